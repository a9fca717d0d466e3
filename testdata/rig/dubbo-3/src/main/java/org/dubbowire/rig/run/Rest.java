package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import com.alibaba.fastjson2.JSON;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.dubbo.benchmark.bean.Page;
import org.apache.dubbo.benchmark.bean.User;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.truth.CallLine;

/** The published services over HTTP/1.1: a port of the protocol rest (3.2), or one of Triple, which speaks that, too (3.3). */
public final class Rest implements Extra {
    private static final class Implementation implements RestUsers {
        private final UserService users = new Services.Users();

        @Override
        public BidRequest bid(BidRequest request) {
            return request;
        }

        @Override
        public boolean existUser(String email) {
            return users.existUser(email);
        }

        @Override
        public boolean createUser(User user) {
            return users.createUser(user);
        }

        @Override
        public User getUser(long id) {
            return users.getUser(id);
        }

        @Override
        public Page<User> listUser(int page) {
            return users.listUser(page);
        }

        @Override
        public String fail(String how) {
            throw new IllegalStateException(how);
        }
    }

    @Override
    public String name() {
        return "rest";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(RestUsers.class, new Implementation(), null, null);
    }

    @Override
    public void run() {
        Client client = new Client();
        for (int i = 0; i < 10; i++) {
            int n = i;
            Step.run("bid", () -> client.post("bid", "bid", Data.bid()));
            Step.run("existUser", () -> client.get("existUser", "exists?email=jdoe" + n + "@example.org" + n, "jdoe" + n + "@example.org" + n));
            Step.run("createUser", () -> client.post("createUser", "user", Data.user(n, "")));
            Step.run("getUser", () -> client.get("getUser", "user/" + n, (long) n));
            Step.run("listUser", () -> client.get("listUser", "users?page=" + n, n));
        }
        Step.fails("fail", () -> client.get("fail", "fail?how=failing", "failing"));
        Step.fails("no such path", () -> client.get("nowhere", "nowhere"));
    }

    /** Any client of HTTP/1.1: Dubbo's own of 3.2 gets the answers and waits on. With HTTP_2 it asks to switch. */
    private static final class Client {
        private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.valueOf(System.getProperty("rig.http", "HTTP_1_1"))).build();

        void get(String method, String path, Object... arguments) throws Exception {
            send(method, request(path).GET(), arguments);
        }

        void post(String method, String path, Object body) throws Exception {
            send(method, request(path).POST(HttpRequest.BodyPublishers.ofString(JSON.toJSONString(body))), body);
        }

        private static HttpRequest.Builder request(String path) {
            return HttpRequest.newBuilder(URI.create("http://" + Settings.urlHost() + ":" + Settings.PORT + "/rig/" + path))
                .timeout(Duration.ofSeconds(20)).header("Content-Type", "application/json").header("Accept", "application/json");
        }

        private void send(String method, HttpRequest.Builder request, Object... arguments) throws Exception {
            List<String> types = Arrays.stream(arguments).map(a -> a.getClass().getName()).toList();
            CallLine line = new CallLine("rest", Settings.urlHost() + ":" + Settings.PORT, RestUsers.class.getName(), null, null, method, types, arguments, null);
            HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                IllegalStateException failure = new IllegalStateException(answer.statusCode() + " " + answer.body());
                line.failed(failure);
                throw failure;
            }
            line.answered(answer.body());
        }
    }
}
