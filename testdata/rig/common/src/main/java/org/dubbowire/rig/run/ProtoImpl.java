package org.dubbowire.rig.run;

import com.google.protobuf.BoolValue;
import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.dubbowire.rig.proto.BidRequest;
import org.dubbowire.rig.proto.Blob;
import org.dubbowire.rig.proto.Choice;
import org.dubbowire.rig.proto.Known;
import org.dubbowire.rig.proto.Leaf;
import org.dubbowire.rig.proto.Maps;
import org.dubbowire.rig.proto.Older;
import org.dubbowire.rig.proto.Page;
import org.dubbowire.rig.proto.Posts;
import org.dubbowire.rig.proto.ProtoService;
import org.dubbowire.rig.proto.Repeated;
import org.dubbowire.rig.proto.Scalars;
import org.dubbowire.rig.proto.User;
import org.dubbowire.rig.proto.Wrapped;
import org.dubbowire.rig.provideronly.ProviderOnlyException;

/** Gives back what it gets. */
final class ProtoImpl implements ProtoService {
    @Override
    public BidRequest bid(BidRequest request) {
        return request;
    }

    @Override
    public StringValue text(StringValue text) {
        return text;
    }

    @Override
    public BoolValue existUser(StringValue email) {
        return BoolValue.of(email.getValue().endsWith("5"));
    }

    @Override
    public BoolValue createUser(User user) {
        return BoolValue.of(true);
    }

    @Override
    public User getUser(Int64Value id) {
        return ProtoData.user(id.getValue(), "");
    }

    @Override
    public Page listUser(Int32Value pageNo) {
        return ProtoData.page(pageNo.getValue());
    }

    @Override
    public Posts queryPost(StringValue keyword) {
        return ProtoData.posts();
    }

    @Override
    public Empty ping(Empty nothing) {
        return nothing;
    }

    @Override
    public Leaf none() {
        return null;
    }

    @Override
    public Leaf pair(Leaf first, Leaf second) {
        return first.toBuilder().addChildren(second).build();
    }

    @Override
    public Scalars echoScalars(Scalars v) {
        return v;
    }

    @Override
    public Repeated echoRepeated(Repeated v) {
        return v;
    }

    @Override
    public Maps echoMaps(Maps v) {
        return v;
    }

    @Override
    public Choice echoChoice(Choice v) {
        return v;
    }

    @Override
    public Known echoKnown(Known v) {
        return v;
    }

    @Override
    public Wrapped echoWrapped(Wrapped v) {
        return v;
    }

    @Override
    public Leaf echoLeaf(Leaf v) {
        return v;
    }

    @Override
    public Older echoOlder(Older v) {
        return v;
    }

    @Override
    public Blob echoBlob(Blob v) {
        return v;
    }

    @Override
    public String notAMessage(Empty nothing) {
        return "no message";
    }

    @Override
    public Empty fail(StringValue how) throws IOException {
        switch (how.getValue()) {
            case "checked" -> throw new IOException("no such bid: 17");
            case "cause" -> throw new IllegalStateException("outer", new IllegalArgumentException("inner"));
            case "null" -> throw new IllegalArgumentException((String) null);
            case "provider only" -> throw new ProviderOnlyException("the consumer does not know my class");
            default -> throw new IllegalStateException(how.getValue());
        }
    }

    @Override
    public Empty answer(StringValue how) {
        Peer.CURRENT.answer("answered", how.getValue());
        Peer.CURRENT.answer("空", "值");
        if (how.getValue().equals("objects")) {
            Peer.CURRENT.answer("number", 42);
        }
        return Empty.getDefaultInstance();
    }

    @Override
    public void event(StringValue name) {
        // nothing to do: the request is what counts
    }

    @Override
    public StringValue slow(StringValue text, Int32Value millis) {
        try {
            Thread.sleep(millis.getValue());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return text;
    }

    @Override
    public CompletableFuture<StringValue> future(StringValue text, Int32Value millis) {
        return CompletableFuture.supplyAsync(() -> slow(text, millis));
    }
}
