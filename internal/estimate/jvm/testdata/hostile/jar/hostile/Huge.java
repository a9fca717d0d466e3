package hostile;

import java.io.IOException;
import java.io.ObjectOutputStream;

public class Huge implements java.io.Serializable {
    private void writeObject(ObjectOutputStream out) throws IOException {
        byte[] b = new byte[1 << 20];
        for (;;) {
            out.write(b);
        }
    }

    @Override
    public int hashCode() {
        StringBuilder s = new StringBuilder("x");
        for (;;) {
            s.append(s);
        }
    }
}
