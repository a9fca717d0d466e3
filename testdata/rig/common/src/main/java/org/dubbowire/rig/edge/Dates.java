package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Dates older than java.time. */
@Getter
@Setter
public class Dates implements Serializable {
    private static final long serialVersionUID = 1L;
    private Date date;
    private Date epoch;
    private Date minute;
    private java.sql.Timestamp timestamp;
    private java.sql.Date sqlDate;
    private java.sql.Time sqlTime;
    private Calendar calendar;
}
