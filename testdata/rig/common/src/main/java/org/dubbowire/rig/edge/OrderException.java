package org.dubbowire.rig.edge;

import lombok.Getter;
import lombok.Setter;

/** A checked exception with fields of its own. */
@Getter
@Setter
public class OrderException extends Exception {
    private static final long serialVersionUID = 1L;
    private int code;
    private Color color;
    private Node node;

    public OrderException() {
    }

    public OrderException(String message, int code, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.color = Color.BLUE;
        this.node = new Node(code, "of the exception");
    }
}
