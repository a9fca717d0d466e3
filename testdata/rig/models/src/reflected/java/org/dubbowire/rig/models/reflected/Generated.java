package org.dubbowire.rig.models.reflected;

import java.util.List;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.reflect.Nullable;
import org.apache.avro.specific.SpecificRecord;
import org.apache.avro.specific.SpecificRecordBase;

/** A class as Avro's compiler makes it of a schema, which says the order of the fields. */
public class Generated extends SpecificRecordBase implements SpecificRecord {
    public static final Schema SCHEMA$ = new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"Generated\",\"namespace\":\"org.dubbowire.rig.models.reflected\",\"fields\":["
        + "{\"name\":\"number\",\"type\":\"long\"},{\"name\":\"text\",\"type\":{\"type\":\"string\",\"avro.java.string\":\"String\"}},"
        + "{\"name\":\"note\",\"type\":[\"null\",{\"type\":\"string\",\"avro.java.string\":\"String\"}]},{\"name\":\"all\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},"
        + "{\"name\":\"counts\",\"type\":{\"type\":\"map\",\"values\":\"double\",\"avro.java.string\":\"String\"}},{\"name\":\"next\",\"type\":[\"null\",\"Generated\"]}]}");

    private List<Integer> all;
    private Map<String, Double> counts;
    @Nullable
    private Generated next;
    @Nullable
    private String note;
    private long number;
    private String text;

    @Override
    public Schema getSchema() {
        return SCHEMA$;
    }

    @Override
    public Object get(int field) {
        switch (field) {
            case 0: return number;
            case 1: return text;
            case 2: return note;
            case 3: return all;
            case 4: return counts;
            case 5: return next;
            default: throw new AvroRuntimeException("Bad index");
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public void put(int field, Object value) {
        switch (field) {
            case 0: number = (Long) value; break;
            case 1: text = String.valueOf(value); break;
            case 2: note = value == null ? null : value.toString(); break;
            case 3: all = (List<Integer>) value; break;
            case 4: counts = (Map<String, Double>) value; break;
            case 5: next = (Generated) value; break;
            default: throw new AvroRuntimeException("Bad index");
        }
    }
}
