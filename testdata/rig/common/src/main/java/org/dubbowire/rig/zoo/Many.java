package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Many classes: more than the one-byte forms of any format have numbers for. */
public final class Many {
    private Many() {
    }

    public static class M00 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f0a;
    }

    public static class M01 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f1a;
    }

    public static class M02 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f2a;
        public int f2b;
    }

    public static class M03 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f3a;
    }

    public static class M04 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f4a;
        public List<String> f4b;
    }

    public static class M05 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f5a;
    }

    public static class M06 implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte[] f6a;
        public Long f6b;
        public String f6c;
    }

    public static class M07 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f0a;
    }

    public static class M08 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f1a;
    }

    public static class M09 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f2a;
        public List<String> f2b;
        public Long f2c;
    }

    public static class M10 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f3a;
    }

    public static class M11 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f4a;
        public byte[] f4b;
    }

    public static class M12 implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte[] f5a;
        public int f5b;
        public boolean f5c;
    }

    public static class M13 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f6a;
        public boolean f6b;
    }

    public static class M14 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f0a;
    }

    public static class M15 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f1a;
    }

    public static class M16 implements Serializable {
        private static final long serialVersionUID = 1L;
        public String f2a;
        public List<String> f2b;
    }

    public static class M17 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f3a;
        public int f3b;
        public Long f3c;
    }

    public static class M18 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f4a;
        public List<String> f4b;
        public Object f4c;
    }

    public static class M19 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f5a;
    }

    public static class M20 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f6a;
        public double f6b;
    }

    public static class M21 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f0a;
        public String f0b;
    }

    public static class M22 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f1a;
        public List<String> f1b;
    }

    public static class M23 implements Serializable {
        private static final long serialVersionUID = 1L;
        public String f2a;
    }

    public static class M24 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f3a;
    }

    public static class M25 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f4a;
        public Object f4b;
        public List<String> f4c;
    }

    public static class M26 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f5a;
        public byte[] f5b;
        public Long f5c;
    }

    public static class M27 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f6a;
    }

    public static class M28 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f0a;
    }

    public static class M29 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f1a;
    }

    public static class M30 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f2a;
        public Object f2b;
    }

    public static class M31 implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte[] f3a;
        public Object f3b;
    }

    public static class M32 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f4a;
        public Long f4b;
        public int f4c;
    }

    public static class M33 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f5a;
    }

    public static class M34 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f6a;
        public int f6b;
    }

    public static class M35 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f0a;
        public Object f0b;
    }

    public static class M36 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f1a;
        public Object f1b;
    }

    public static class M37 implements Serializable {
        private static final long serialVersionUID = 1L;
        public String f2a;
        public Long f2b;
    }

    public static class M38 implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte[] f3a;
        public int f3b;
        public Long f3c;
    }

    public static class M39 implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte[] f4a;
        public String f4b;
    }

    public static class M40 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f5a;
        public Object f5b;
        public boolean f5c;
    }

    public static class M41 implements Serializable {
        private static final long serialVersionUID = 1L;
        public String f6a;
        public Long f6b;
        public boolean f6c;
    }

    public static class M42 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f0a;
    }

    public static class M43 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f1a;
        public Object f1b;
    }

    public static class M44 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f2a;
        public Object f2b;
    }

    public static class M45 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f3a;
        public Long f3b;
        public Object f3c;
    }

    public static class M46 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f4a;
        public Object f4b;
    }

    public static class M47 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f5a;
        public Object f5b;
    }

    public static class M48 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f6a;
    }

    public static class M49 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f0a;
    }

    public static class M50 implements Serializable {
        private static final long serialVersionUID = 1L;
        public String f1a;
    }

    public static class M51 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f2a;
    }

    public static class M52 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f3a;
    }

    public static class M53 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Long f4a;
        public boolean f4b;
        public int f4c;
    }

    public static class M54 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f5a;
        public boolean f5b;
        public String f5c;
    }

    public static class M55 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f6a;
        public Object f6b;
    }

    public static class M56 implements Serializable {
        private static final long serialVersionUID = 1L;
        public boolean f0a;
        public List<String> f0b;
        public double f0c;
    }

    public static class M57 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f1a;
        public Object f1b;
        public String f1c;
    }

    public static class M58 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f2a;
    }

    public static class M59 implements Serializable {
        private static final long serialVersionUID = 1L;
        public Object f3a;
        public int f3b;
    }

    public static class M60 implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<String> f4a;
    }

    public static class M61 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f5a;
        public byte[] f5b;
    }

    public static class M62 implements Serializable {
        private static final long serialVersionUID = 1L;
        public double f6a;
        public Object f6b;
    }

    public static class M63 implements Serializable {
        private static final long serialVersionUID = 1L;
        public int f0a;
    }

    /** One of each. */
    public static List<Object> all() {
        List<Object> all = new ArrayList<>();
        for (Class<?> c : Many.class.getDeclaredClasses()) {
            try {
                all.add(c.getDeclaredConstructor().newInstance());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        return all;
    }
}
