package org.dubbowire.rig.proto;

import com.google.protobuf.BoolValue;
import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import java.util.concurrent.CompletableFuture;

/** Methods whose parameters and results are protobuf messages: the serializations protobuf and protobuf-json take nothing else. */
public interface ProtoService {
    BidRequest bid(BidRequest request);

    StringValue text(StringValue text);

    BoolValue existUser(StringValue email);

    BoolValue createUser(User user);

    User getUser(Int64Value id);

    Page listUser(Int32Value pageNo);

    Posts queryPost(StringValue keyword);

    Empty ping(Empty nothing);

    Leaf none();

    Leaf pair(Leaf first, Leaf second);

    Scalars echoScalars(Scalars v);

    Repeated echoRepeated(Repeated v);

    Maps echoMaps(Maps v);

    Choice echoChoice(Choice v);

    Known echoKnown(Known v);

    Wrapped echoWrapped(Wrapped v);

    Leaf echoLeaf(Leaf v);

    /** A receiver that does not know all fields sends them back nevertheless. */
    Older echoOlder(Older v);

    Blob echoBlob(Blob v);

    /** Not a message: the provider cannot write the result. */
    String notAMessage(Empty nothing);

    Empty fail(StringValue how) throws java.io.IOException;

    /** Answers with attachments. */
    Empty answer(StringValue how);

    void event(StringValue name);

    StringValue slow(StringValue text, Int32Value millis);

    CompletableFuture<StringValue> future(StringValue text, Int32Value millis);
}
