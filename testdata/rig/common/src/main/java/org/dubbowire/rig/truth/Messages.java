package org.dubbowire.rig.truth;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import java.math.BigInteger;
import java.util.Base64;
import java.util.List;

/**
 * Writes protobuf messages. Their classes keep values in private fields of their own making, so a message is written by
 * its descriptor: {"@class", "@fields": [{"number", "name" (as in JSON), "type", "value"}]}, only fields that are set, in
 * the order of their numbers.
 */
final class Messages {
    /** The oldest generations run without protobuf. */
    private static final boolean AVAILABLE = available();
    private final Dumper dumper;
    private final Json json;

    Messages(Dumper dumper, Json json) {
        this.dumper = dumper;
        this.json = json;
    }

    private static boolean available() {
        try {
            Class.forName("com.google.protobuf.Message");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    static boolean is(Object v) {
        return AVAILABLE && v instanceof Message;
    }

    void message(String path, Object v) {
        Message message = (Message) v;
        json.beginObject().field("@class", v.getClass().getName()).name("@fields").beginArray();
        message.getAllFields().forEach((field, value) -> {
            json.beginObject().field("number", field.getNumber()).field("name", field.getJsonName());
            json.field("type", field.getType().name().toLowerCase());
            if (field.isMapField()) {
                json.field("map", true);
            } else if (field.isRepeated()) {
                json.field("repeated", true).field("packed", field.isPacked());
            }
            json.name("value");
            value(path + "." + field.getJsonName(), field, value);
            json.endObject();
        });
        json.endArray();
        UnknownFieldSet unknown = message.getUnknownFields();
        if (unknown.getSerializedSize() > 0) {
            json.field("@unknown", Base64.getEncoder().encodeToString(unknown.toByteArray()));
        }
        json.endObject();
    }

    private void value(String path, FieldDescriptor field, Object v) {
        if (field.isMapField()) {
            json.beginArray();
            for (Object o : (List<?>) v) { // entries are messages of two fields
                Message entry = (Message) o;
                json.beginArray();
                for (FieldDescriptor f : entry.getDescriptorForType().getFields()) {
                    one(path, f, entry.getField(f));
                }
                json.endArray();
            }
            json.endArray();
        } else if (field.isRepeated()) {
            json.beginArray();
            int i = 0;
            for (Object o : (List<?>) v) {
                one(path + "[" + i++ + "]", field, o);
            }
            json.endArray();
        } else {
            one(path, field, v);
        }
    }

    private void one(String path, FieldDescriptor field, Object v) {
        if (v instanceof ByteString bytes) {
            dumper.value(path, bytes.toByteArray());
        } else if (v instanceof EnumValueDescriptor e) {
            json.beginObject().field("@enum", e.getType().getFullName()).field("name", e.getName()).field("number", e.getNumber()).endObject();
        } else if (unsigned(field) && v instanceof Integer i) {
            json.scalar(Integer.toUnsignedLong(i));
        } else if (unsigned(field) && v instanceof Long l) {
            json.scalar(new BigInteger(Long.toUnsignedString(l)));
        } else {
            dumper.value(path, v);
        }
    }

    /** Java keeps these in signed numbers. */
    private static boolean unsigned(FieldDescriptor field) {
        return switch (field.getType()) {
            case UINT32, UINT64, FIXED32, FIXED64 -> true;
            default -> false;
        };
    }
}
