package q;

import java.io.Serializable;
import java.util.List;
import lombok.Getter;
import lombok.Setter;

/** Short names. */
@Getter
@Setter
public class T implements Serializable {
    private static final long serialVersionUID = 1L;
    private int i;
    private String s;
    private E e;
    private T t;
    private List<T> l;

    /** Constants of one letter. */
    public enum E {
        A, b, C
    }
}
