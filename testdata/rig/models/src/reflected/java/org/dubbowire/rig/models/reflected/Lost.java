package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.time.LocalDate;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Fields whose values take no bytes. */
public class Lost implements Serializable {
    private Object any;
    private Date date;
    private UUID uuid;
    private LocalDate day;
    private Serializable serializable;
    private List<Object> all;
    private Map<String, Object> named;
    private int rest;
    private Nothing nothing;
}
