package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import lombok.Getter;
import lombok.Setter;

/** Numbers that are objects. */
@Getter
@Setter
public class Numbers implements Serializable {
    private static final long serialVersionUID = 1L;
    private BigDecimal price;
    private BigDecimal exponent;
    private BigDecimal zero;
    private BigInteger big;
    private BigInteger negative;
    private AtomicInteger counter;
    private AtomicLong longCounter;
    private Number number;
}
