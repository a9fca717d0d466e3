package org.dubbowire.rig.run;

import com.github.smartbuf.dubbo.model.PostModel;
import com.github.smartbuf.dubbo.model.TopicModel;
import com.google.protobuf.Any;
import com.google.protobuf.BoolValue;
import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import com.google.protobuf.DoubleValue;
import com.google.protobuf.Duration;
import com.google.protobuf.Empty;
import com.google.protobuf.FieldMask;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Int64Value;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.StringValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.proto.BidRequest;
import org.dubbowire.rig.proto.Blob;
import org.dubbowire.rig.proto.Choice;
import org.dubbowire.rig.proto.Date;
import org.dubbowire.rig.proto.Device;
import org.dubbowire.rig.proto.Geo;
import org.dubbowire.rig.proto.Hue;
import org.dubbowire.rig.proto.Impression;
import org.dubbowire.rig.proto.Known;
import org.dubbowire.rig.proto.Leaf;
import org.dubbowire.rig.proto.Maps;
import org.dubbowire.rig.proto.Newer;
import org.dubbowire.rig.proto.Older;
import org.dubbowire.rig.proto.Page;
import org.dubbowire.rig.proto.Post;
import org.dubbowire.rig.proto.Posts;
import org.dubbowire.rig.proto.Repeated;
import org.dubbowire.rig.proto.Scalars;
import org.dubbowire.rig.proto.Topic;
import org.dubbowire.rig.proto.User;
import org.dubbowire.rig.proto.Wrapped;

/** Messages: the published objects, and what a message can hold. */
final class ProtoData {
    private ProtoData() {
    }

    static BidRequest bid() {
        return bid(Data.bid());
    }

    static BidRequest fullBid() {
        return bid(Data.fullBid());
    }

    private static BidRequest bid(com.alibaba.dubbo.rpc.benchmark.BidRequest from) {
        BidRequest.Builder bid = BidRequest.newBuilder();
        if (from.getId() != null) {
            bid.setId(from.getId());
        }
        var device = from.getDevice();
        var geo = device.getGeo();
        bid.setDevice(Device.newBuilder().setOs(device.getOs()).setMake(device.getMake()).setVersion(device.getVersion())
            .setModel(device.getModel()).setLang(device.getLang())
            .setGeo(Geo.newBuilder().setCountry(geo.getCountry()).setCity(geo.getCity()).setLat(geo.getLat()).setLon(geo.getLon())));
        from.getImpressions().forEach(i -> bid.addImpressions(Impression.newBuilder().setId(i.getId()).setBidFloor(i.getBidFloor())));
        return bid.build();
    }

    static User user(long id, String suffix) {
        var from = Data.user(id, suffix);
        return User.newBuilder().setId(from.getId()).setName(from.getName()).setSex(from.getSex())
            .setBirthday(Date.newBuilder().setYear(from.getBirthday().getYear()).setMonth(from.getBirthday().getMonthValue())
                .setDay(from.getBirthday().getDayOfMonth()))
            .setEmail(from.getEmail()).setMobile(from.getMobile()).setAddress(from.getAddress()).setIcon(from.getIcon())
            .addAllPermissions(from.getPermissions()).setStatus(from.getStatus())
            .setCreateTime(timestamp(from.getCreateTime())).setUpdateTime(timestamp(from.getUpdateTime())).build();
    }

    private static Timestamp timestamp(LocalDateTime time) {
        return Timestamp.newBuilder().setSeconds(time.toEpochSecond(ZoneOffset.UTC)).setNanos(time.getNano()).build();
    }

    static Page page(int pageNo) {
        Page.Builder page = Page.newBuilder().setPageNo(pageNo).setTotal(1000);
        for (int i = 0; i < 15; i++) {
            page.addResult(user(i, Integer.toString(i)));
        }
        return page.build();
    }

    static Posts posts() {
        Posts.Builder posts = Posts.newBuilder();
        for (PostModel from : Data.posts()) {
            Post.Builder post = Post.newBuilder().setPostId(from.getPostId()).setAuthorId(from.getAuthorId()).setTitle(from.getTitle())
                .setDescription(from.getDescription()).setContentTypeValue(from.getContentType().ordinal())
                .setVisibilityValue(from.getVisibility().ordinal()).setCreateTime(from.getCreateTime()).addAllMentions(from.getMentions());
            if (from.getPrePostId() != null) {
                post.setPrePostId(Int32Value.of(from.getPrePostId()));
            }
            for (TopicModel t : from.getTopics()) {
                post.addTopics(Topic.newBuilder().setId(t.getId()).setName(t.getName()).setPortrait(t.getPortrait())
                    .setBackground(t.getBackground()).setDescription(t.getDescription()).setPostNum(t.getPostNum())
                    .setFollowerNum(t.getFollowerNum()).setCreateTime(t.getCreateTime()));
            }
            posts.addPosts(post);
        }
        return posts.build();
    }

    static Map<String, Scalars> scalars() {
        Map<String, Scalars> all = new LinkedHashMap<>();
        all.put("default", Scalars.getDefaultInstance());
        all.put("small", Scalars.newBuilder().setDouble(1.5).setFloat(0.1f).setInt32(1).setInt64(2).setUint32(3).setUint64(4).setSint32(-5)
            .setSint64(-6).setFixed32(7).setFixed64(8).setSfixed32(-9).setSfixed64(-10).setBool(true).setString("text")
            .setBytes(bytes(3)).setHue(Hue.RED).build());
        all.put("minimum", Scalars.newBuilder().setDouble(Double.MIN_VALUE).setFloat(-Float.MAX_VALUE).setInt32(Integer.MIN_VALUE)
            .setInt64(Long.MIN_VALUE).setUint32(Integer.MIN_VALUE).setUint64(Long.MIN_VALUE).setSint32(Integer.MIN_VALUE)
            .setSint64(Long.MIN_VALUE).setFixed32(Integer.MIN_VALUE).setFixed64(Long.MIN_VALUE).setSfixed32(Integer.MIN_VALUE)
            .setSfixed64(Long.MIN_VALUE).setHue(Hue.BLUE).build());
        all.put("maximum", Scalars.newBuilder().setDouble(Double.MAX_VALUE).setFloat(Float.MAX_VALUE).setInt32(Integer.MAX_VALUE)
            .setInt64(Long.MAX_VALUE).setUint32(-1).setUint64(-1).setSint32(Integer.MAX_VALUE).setSint64(Long.MAX_VALUE).setFixed32(-1)
            .setFixed64(-1).setSfixed32(Integer.MAX_VALUE).setSfixed64(Long.MAX_VALUE).setBool(true).setString("中文 😀 \"quoted\" \\ \n\t</a>")
            .setBytes(bytes(300)).setHue(Hue.GREEN).build());
        all.put("no numbers", Scalars.newBuilder().setDouble(Double.NaN).setFloat(Float.NEGATIVE_INFINITY).setHueValue(77).build());
        all.put("negative zero", Scalars.newBuilder().setDouble(-0.0).setFloat(-0f).build());
        return all;
    }

    static Repeated repeated() {
        return Repeated.newBuilder().addAllDoubles(List.of(0.0, 1.5, -1e100)).addAllFloats(List.of(0f, 0.1f))
            .addAllInts(List.of(0, 1, -1, 300, Integer.MAX_VALUE)).addAllLongs(List.of(0L, Long.MIN_VALUE)).addAllZigzags(List.of(0, -1, 1))
            .addAllFixed(List.of(0L, -1L)).addAllBools(List.of(true, false, true)).addAllHues(List.of(Hue.UNKNOWN, Hue.GREEN, Hue.BLUE)).addHuesValue(78)
            .addAllStrings(List.of("", "a", "中文", "a")).addBytes(bytes(0)).addBytes(bytes(4)).addLeaves(leaf(1)).addLeaves(Leaf.getDefaultInstance())
            .addAllLooseInts(List.of(0, 1, -1)).addAllLooseDoubles(List.of(2.5)).addAllLooseHues(List.of(Hue.RED, Hue.RED)).build();
    }

    static Maps maps() {
        return Maps.newBuilder().putNames("k", "v").putNames("", "").putNames("a.b[c]\"d", "quoted").putNumbers(0, "zero").putNumbers(-1, "minus")
            .putLeaves(1L << 40, leaf(2)).putLeaves(0, Leaf.getDefaultInstance()).putAnswers(true, 1.5).putAnswers(false, 0)
            .putRaw("three", bytes(3)).putHues(-70000, Hue.GREEN).putHuesValue(1, 79).putFixed(-1L, 0.5f).build();
    }

    static Map<String, Choice> choices() {
        Map<String, Choice> all = new LinkedHashMap<>();
        all.put("none", choice().build());
        all.put("number", choice().setNumber(0).build()); // set, although it has the default value
        all.put("text", choice().setText("chosen").build());
        all.put("leaf", choice().setLeaf(leaf(3)).build());
        all.put("raw", choice().setRaw(bytes(2)).build());
        all.put("hue", choice().setHue(Hue.BLUE).build());
        all.put("yes", choice().setYes(false).build());
        all.put("nothing", choice().setNothing(Empty.getDefaultInstance()).build());
        return all;
    }

    private static Choice.Builder choice() {
        return Choice.newBuilder().setBefore("before").setAfter("after");
    }

    static Known known() {
        Value list = Value.newBuilder().setListValue(ListValue.newBuilder()
            .addValues(Value.newBuilder().setNumberValue(1.5)).addValues(Value.newBuilder().setStringValue("two"))
            .addValues(Value.newBuilder().setBoolValue(true)).addValues(Value.newBuilder().setNullValue(NullValue.NULL_VALUE))).build();
        return Known.newBuilder().setTimestamp(Timestamp.newBuilder().setSeconds(1574150400L).setNanos(123_000_000))
            .setDuration(Duration.newBuilder().setSeconds(-3).setNanos(-500_000_000)).setMask(FieldMask.newBuilder().addPaths("a.b").addPaths("c"))
            .setStruct(Struct.newBuilder().putFields("list", list).putFields("empty", Value.newBuilder().setStringValue("").build()))
            .setString(StringValue.of("")).setBool(BoolValue.of(false)).setLong(Int64Value.of(1L << 53)).setDouble(DoubleValue.of(-0.5))
            .setBytes(BytesValue.of(bytes(5))).setEmpty(Empty.getDefaultInstance()).build();
    }

    static Wrapped wrapped() {
        return Wrapped.newBuilder().setAny(Any.pack(leaf(4))).build();
    }

    /** A message with fields that its class does not know. */
    static Older unknown() {
        Newer newer = Newer.newBuilder().setId(1).setName("newer").setLeaf(leaf(5)).addInts(1).addInts(-1).setFixed64(2).setFixed32(3).setFar(4).build();
        try {
            return Older.parseFrom(newer.toByteString());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException(e);
        }
    }

    static Leaf leaf(int id) {
        return Leaf.newBuilder().setId(id).setName("leaf " + id).build();
    }

    static Leaf chain(int depth) {
        Leaf leaf = leaf(0);
        for (int i = 1; i < depth; i++) {
            leaf = leaf(i).toBuilder().setParent(leaf).build();
        }
        return leaf;
    }

    static Leaf tree(int depth) {
        Leaf.Builder leaf = leaf(depth).toBuilder();
        for (int i = 0; i < 3 && depth > 0; i++) {
            leaf.addChildren(tree(depth - 1));
        }
        return leaf.build();
    }

    static Blob blob(int size) {
        return Blob.newBuilder().setData(bytes(size)).setText(Data.text(Math.min(size, 2000), size)).build();
    }

    static ByteString bytes(int size) {
        return ByteString.copyFrom(Samples.bytes(size));
    }
}
