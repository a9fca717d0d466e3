package dubbowire;

import java.util.Map;

/** A request or a response: what was on the wire, then as objects. */
final class Message {
    boolean response;
    long id;
    int group;
    String dubboVersion, service, serviceVersion, method, descriptor;
    int resultKind;
    Node[] values; // arguments; or one result, or none
    Node attached; // null without attachments
    String unwritten; // what of it the observed serialization does not write, null if it writes everything
    boolean timesCopied; // a time that two fields have was written twice
    boolean protobufOnly; // its serialization writes messages of protocol buffers
    boolean messages; // there are messages of protocol buffers
    boolean decimals; // there are numbers that remember what was computed of them

    Signature signature;
    Object[] objects; // arguments, or the result
    Map<String, Object> attachments; // null if there were none

    Object result() {
        return objects.length == 0 ? null : objects[0];
    }

    boolean hasValues() {
        for (Object o : objects) {
            if (o != null) {
                return true;
            }
        }
        return false;
    }

    boolean isException() {
        return resultKind % 3 == 0;
    }
}
