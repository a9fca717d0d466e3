package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.util.Date;
import org.apache.avro.reflect.AvroDefault;
import org.apache.avro.reflect.AvroEncode;
import org.apache.avro.reflect.AvroIgnore;
import org.apache.avro.reflect.AvroMeta;
import org.apache.avro.reflect.AvroName;
import org.apache.avro.reflect.AvroSchema;
import org.apache.avro.reflect.DateAsLongEncoding;
import org.apache.avro.reflect.Nullable;
import org.apache.avro.reflect.Stringable;

/** The annotations of Avro. */
@AvroMeta(key = "rig", value = "yes")
public class Marked implements Serializable {
    @AvroName("a")
    private String zName;
    @AvroIgnore
    private String ignored;
    @AvroDefault("7")
    private int defaulted;
    @AvroMeta(key = "k", value = "v")
    private long meta;
    @Stringable
    private Coordinates place;
    @Stringable
    @Nullable
    private Coordinates maybe;
    private Point point;
    @Stringable
    private Integer text;
    @AvroSchema("[\"null\", \"string\"]")
    private String optional;
    @AvroSchema("{\"type\": \"long\", \"logicalType\": \"timestamp-millis\"}")
    private Long moment;
    @AvroSchema("\"string\"")
    private int primitive;
    @AvroEncode(using = DateAsLongEncoding.class)
    private Date date;
    private URI uri;
    private BigDecimal decimal;
    @Nullable
    private char letter;
}
