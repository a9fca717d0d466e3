package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.dubbowire.rig.edge.OrderException;
import org.dubbowire.rig.rest.RestThings;

/** Everything that HTTP and REST have, by a client of HTTP, and as far as it can by Dubbo's own. */
public class RestEdge implements Extra {
    private static final String JSON = "application/json";
    private static final String BID = "{\"id\":\"posted\",\"device\":{\"os\":\"ios\",\"geo\":{\"city\":\"北京\",\"lat\":100.1}},\"impressions\":[{\"id\":\"abc\",\"bidFloor\":1.1}]}";
    private static final String HOST = "Host: " + Settings.urlHost() + ":" + Settings.PORT + "\r\n";
    private static final String GET = "GET /edge/days/2024-01-01 HTTP/1.1\r\n" + HOST;
    private static final String POST = "POST /edge/text HTTP/1.1\r\n" + HOST + "Content-Type: text/plain\r\nAccept: text/plain\r\n";
    private static final String CLOSE = "Connection: close\r\n\r\n";

    private static final class Things implements RestThings {
        @Override
        public BidRequest user(long id) {
            BidRequest user = Data.bid();
            user.setId("user-" + id);
            return user;
        }

        @Override
        public void put(long id, BidRequest user) {
            // nothing is kept
        }

        @Override
        public BidRequest patch(long id, BidRequest user) {
            user.setId("patched-" + id);
            return user;
        }

        @Override
        public void delete(long id) {
            // nothing is kept
        }

        @Override
        public List<BidRequest> users(int count) {
            List<BidRequest> users = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                users.add(user(i));
            }
            return users;
        }

        @Override
        public BidRequest create(BidRequest user) {
            return user;
        }

        @Override
        public String line(String order, int line) {
            return order + "#" + line;
        }

        @Override
        public String day(String day) {
            return "a day: " + day;
        }

        @Override
        public String word(String word) {
            return "<" + word + ">";
        }

        @Override
        public String search(String query, int page, List<String> tags) {
            return query + " " + page + " " + tags;
        }

        @Override
        public String form(String name, int age, String note) {
            return name + " " + age + " " + note;
        }

        @Override
        public String headers(String trace, String session) {
            return trace + " " + session;
        }

        @Override
        public String matrix(String who, String color, int size) {
            return who + " " + color + " " + size;
        }

        @Override
        public String upload(byte[] parts) {
            return "bytes: " + parts.length;
        }

        @Override
        public String text(String text) {
            return text;
        }

        @Override
        public byte[] bytes(byte[] bytes) {
            return bytes;
        }

        @Override
        public BidRequest nothing() {
            return null;
        }

        @Override
        public String empty() {
            return "";
        }

        @Override
        public String fail(String how) throws Exception {
            switch (how) {
                case "checked" -> throw new OrderException("checked", 42, null);
                case "argument" -> throw new IllegalArgumentException("not an argument");
                default -> throw new IllegalStateException(how);
            }
        }

        @Override
        public String large(int size) {
            return Data.text(size, 3);
        }
    }

    @Override
    public String name() {
        return "rest-edge";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(RestThings.class, new Things(), null, null);
    }

    @Override
    public void run() {
        clients();
        raw();
        broken();
    }

    /** By a client of HTTP and, where it can, by Dubbo's own. */
    static void clients() {
        web(new Web(), "");
        if (Boolean.getBoolean("rig.dubbo.client")) {
            dubbo();
        }
    }

    /** By any client. */
    static void web(Web web, String tree) {
        String edge = tree + "/edge";
        byte[] bid = utf8(BID);
        for (int i = 1; i <= 8; i++) {
            int id = i * 1001;
            step("GET", () -> web.call("GET", edge + "/users/" + id, null, "Accept", JSON));
        }
        step("PUT", () -> web.call("PUT", edge + "/users/17", bid, "Content-Type", JSON, "Accept", JSON));
        step("PATCH", () -> web.call("PATCH", edge + "/users/17", bid, "Content-Type", JSON, "Accept", JSON));
        step("DELETE", () -> web.call("DELETE", edge + "/users/17", null, "Accept", JSON));
        step("HEAD", () -> web.call("HEAD", edge + "/users/17", null, "Accept", JSON));
        step("OPTIONS", () -> web.call("OPTIONS", edge + "/users/17", null));
        step("POST", () -> web.call("POST", edge + "/users", bid, "Content-Type", JSON, "Accept", JSON));
        step("POST with charset", () -> web.call("POST", edge + "/users", bid, "Content-Type", JSON + ";charset=utf-8", "Accept", JSON));
        step("list", () -> web.call("GET", edge + "/users?count=40", null, "Accept", JSON));
        step("list, gzip", () -> web.call("GET", edge + "/users?count=40", null, "Accept", JSON, "Accept-Encoding", "gzip"));
        for (int i = 0; i < 4; i++) {
            String order = Data.uuid(i);
            int line = i;
            step("UUID", () -> web.call("GET", edge + "/orders/" + order + "/lines/" + line, null, "Accept", "text/plain"));
            step("date", () -> web.call("GET", edge + "/days/2024-02-2" + line, null, "Accept", "text/plain"));
        }
        for (String word : List.of("summer", "a%20b", "%E5%8C%97%E4%BA%AC", "%F0%9F%98%80", "semi%3Bcolon", "slash%2Fslash", "5f4dcc3b5aa765d61d8327deb882cf99")) {
            step("word " + word, () -> web.call("GET", edge + "/words/" + word, null, "Accept", "text/plain"));
        }
        step("query", () -> web.call("GET", edge + "/search?q=caf%C3%A9+au%20lait&page=2&tag=a&tag=b%26c&tag=", null, "Accept", "text/plain"));
        step("query without values", () -> web.call("GET", edge + "/search?q&page=3", null, "Accept", "text/plain"));
        step("form", () -> web.call("POST", edge + "/form", utf8("name=J%C3%B6rg&age=40&note=a+b%3D%26"), "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/plain"));
        step("headers", () -> web.call("GET", edge + "/headers", null, "X-Trace-Id", "0af7651916cd43dd8448eb211c80319c", "Cookie", "session=secret; theme=dark", "Authorization", "Bearer abc.def.ghi", "Accept", "text/plain"));
        step("matrix", () -> web.call("GET", edge + "/matrix/bob;color=red;size=3", null, "Accept", "text/plain"));
        step("multipart", () -> web.call("POST", edge + "/upload", utf8("--b0undary\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--b0undary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
            + "Content-Type: text/plain\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345\r\n--b0undary--\r\n"), "Content-Type", "multipart/form-data; boundary=b0undary", "Accept", "text/plain"));
        step("text", () -> web.call("POST", edge + "/text", utf8("naïve 北京 😀"), "Content-Type", "text/plain;charset=UTF-8", "Accept", "text/plain"));
        step("text that is HTTP", () -> web.call("POST", edge + "/text", utf8("GET /users/1 HTTP/1.1\r\n" + HOST + "\r\n"), "Content-Type", "text/plain", "Accept", "text/plain"));
        step("bytes", () -> web.call("POST", edge + "/bytes", every(), "Content-Type", "application/octet-stream", "Accept", "application/octet-stream"));
        step("no bytes", () -> web.call("POST", edge + "/bytes", new byte[0], "Content-Type", "application/octet-stream", "Accept", "application/octet-stream"));
        step("null", () -> web.call("GET", edge + "/nothing", null, "Accept", JSON));
        step("empty", () -> web.call("GET", edge + "/empty", null, "Accept", "text/plain"));
        step("large answer", () -> web.call("GET", edge + "/large?size=70000", null, "Accept", "text/plain"));
        step("large request", () -> web.call("POST", edge + "/text", utf8(Data.text(60_000, 4)), "Content-Type", "text/plain", "Accept", "text/plain"));
        for (String how : List.of("runtime", "checked", "argument")) {
            step("fail " + how, () -> web.call("GET", edge + "/fail?how=" + how, null, "Accept", JSON));
        }
        step("404", () -> web.call("GET", edge + "/nowhere", null, "Accept", JSON));
        step("404 outside", () -> web.call("GET", "/favicon.ico", null));
        step("405", () -> web.call("DELETE", edge + "/search", null, "Accept", "text/plain"));
        step("406", () -> web.call("GET", edge + "/users/1", null, "Accept", "image/png"));
        step("415", () -> web.call("POST", edge + "/users", bid, "Content-Type", "image/png", "Accept", JSON));
        step("bad JSON", () -> web.call("POST", edge + "/users", utf8("{\"id\":"), "Content-Type", JSON, "Accept", JSON));
        step("not a number", () -> web.call("GET", edge + "/users/seventeen", null, "Accept", JSON));
        step("unknown field", () -> web.call("POST", edge + "/users", utf8("{\"stranger\":1}"), "Content-Type", JSON, "Accept", JSON));
    }

    /** By Dubbo's own client. */
    private static void dubbo() {
        RestThings things = Remote.of(RestThings.class).get();
        Step.run("dubbo GET", () -> things.user(5));
        Step.run("dubbo attachments", () -> {
            Peer.CURRENT.attach("trace", "0af7651916cd43dd");
            Peer.CURRENT.attach("tenant", "blue team");
            things.user(6);
        });
        Step.run("dubbo long attachment", () -> {
            Peer.CURRENT.attach("baggage", Data.text(3000, 9));
            things.user(7);
        });
        Step.run("dubbo PUT", () -> things.put(5, Data.bid()));
        Step.run("dubbo PATCH", () -> things.patch(5, Data.bid()));
        Step.run("dubbo DELETE", () -> things.delete(5));
        Step.run("dubbo list", () -> things.users(3));
        Step.run("dubbo path", () -> things.word("北京 / ; ?"));
        Step.run("dubbo query", () -> things.search("café & co", 2, List.of("a", "b c")));
        Step.run("dubbo form", () -> things.form("Jörg", 40, "a=b&c"));
        Step.run("dubbo headers", () -> things.headers("trace", "cookie"));
        Step.run("dubbo matrix", () -> things.matrix("bob", "red", 3));
        Step.run("dubbo text", () -> things.text("naïve 北京"));
        Step.run("dubbo bytes", () -> things.bytes(every()));
        Step.run("dubbo null", things::nothing);
        Step.run("dubbo null argument", () -> things.search(null, 0, null));
        Step.fails("dubbo fail", () -> things.fail("runtime"));
        Step.fails("dubbo fail", () -> things.fail("checked"));
    }

    /** What clients write who have no library, or a bad one. */
    static void raw() {
        step("pipeline", () -> Web.raw(GET + "\r\n" + POST + "Content-Length: 5\r\n\r\nfirst" + "HEAD /edge/empty HTTP/1.1\r\n" + HOST + "\r\n" + POST + "Content-Length: 6\r\n\r\nsecond" + GET + CLOSE));
        step("no keep-alive", () -> Web.raw(GET + CLOSE));
        step("HTTP/1.0", () -> Web.raw("GET /edge/days/2024-01-02 HTTP/1.0\r\n\r\n"));
        step("HTTP/1.0, many bytes", () -> Web.raw("GET /edge/large?size=20000 HTTP/1.0\r\n\r\n"));
        step("HTTP/1.0 keep-alive", () -> Web.raw("GET /edge/days/2024-01-03 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", null, "GET /edge/days/2024-01-04 HTTP/1.0\r\n\r\n"));
        step("expect", () -> Web.raw(POST + "Expect: 100-continue\r\nContent-Length: 7\r\n" + CLOSE, null, "waiting"));
        step("chunked", () -> Web.raw(POST + "Transfer-Encoding: chunked\r\n" + CLOSE + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"));
        step("chunks in pieces", () -> Web.raw(POST + "Transfer-Encoding: chunked\r\n" + CLOSE + "5\r", "\nhel", "lo\r\n1", "\r\n!\r\n0\r\n", "\r\n"));
        step("extensions and trailers", () -> Web.raw(POST + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n" + CLOSE + "A;name=value;quoted=\"a;b\"\r\n0123456789\r\n000b\r\n0123456789a\r\n0;last\r\nX-Sum: 21\r\nX-Other: more\r\n\r\n"));
        step("names in capitals", () -> Web.raw("GET /edge/headers HTTP/1.1\r\nHOST: x\r\nx-trace-id:   padded  \r\nACCEPT:text/plain\r\nCOOKIE:session=1\r\n" + CLOSE));
        step("folded", () -> Web.raw("GET /edge/headers HTTP/1.1\r\n" + HOST + "X-Trace-Id: first\r\n  second\r\n" + CLOSE));
        step("bare LF", () -> Web.raw("GET /edge/days/2024-01-05 HTTP/1.1\nHost: x\nConnection: close\n\n"));
        step("absolute form", () -> Web.raw("GET http://elsewhere.example/edge/days/2024-01-06 HTTP/1.1\r\n" + HOST + CLOSE));
        step("OPTIONS *", () -> Web.raw("OPTIONS * HTTP/1.1\r\n" + HOST + CLOSE));
        step("length and chunks", () -> Web.raw(POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" + CLOSE + "5\r\nhello\r\n0\r\n\r\n"));
        step("no Host", () -> Web.raw("GET /edge/days/2024-01-07 HTTP/1.1\r\n" + CLOSE));
        step("long head", () -> Web.raw(GET + "X-Long: " + "x".repeat(9000) + "\r\n" + CLOSE));
    }

    /** What has no end, or not one end. */
    private static void broken() {
        step("lengths that disagree", () -> Web.raw(POST + "Content-Length: 5\r\nContent-Length: 6\r\n" + CLOSE + "hello!"));
        step("not HTTP", () -> Web.raw("ls -la\r\n\r\n"));
        step("cut", () -> {
            try (java.net.Socket socket = new java.net.Socket(Settings.HOST, Settings.PORT)) {
                socket.getOutputStream().write(utf8(POST + "Content-Length: 100\r\n\r\nnot all"));
            }
        });
    }

    /** No answer is a failure here: errors are the point. */
    private static void step(String name, Step.Call call) {
        Step.run(name, call);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] every() {
        byte[] bytes = new byte[512];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }
}
