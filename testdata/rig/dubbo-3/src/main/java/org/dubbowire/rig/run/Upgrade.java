package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import com.alibaba.fastjson2.JSON;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.truth.CallLine;

/**
 * JSON over HTTP/2 by the HTTP client of the JDK, whose connections begin with a request of HTTP/1.1 that asks to switch (h2c). Each new
 * Client is a connection of its own.
 */
public final class Upgrade implements Extra {
    @Override
    public String name() {
        return "upgrade";
    }

    @Override
    public void export() {
        // the services that every provider has
    }

    @Override
    public void run() {
        manyCalls();
        firstRequests();
        atOnce();
    }

    /** The first call switches, the others follow as HTTP/2. */
    private static void manyCalls() {
        Client client = new Client();
        for (int i = 0; i < 5; i++) {
            int n = i;
            Step.run("bid", () -> client.post(EchoService.class, "bid", Data.bid()));
            Step.run("existUser", () -> client.post(UserService.class, "existUser", "jdoe" + n + "@example.org" + n));
            Step.run("createUser", () -> client.post(UserService.class, "createUser", Data.user(n, "")));
            Step.run("getUser", () -> client.post(UserService.class, "getUser", n * 1_000_000_007L));
        }
        Step.run("listUser", () -> client.post(UserService.class, "listUser", 1));
        Step.run("add", () -> client.post(EdgeService.class, "add", -1, 1L << 40));
        Step.run("ping", () -> client.post(EdgeService.class, "ping"));
        Step.run("echoString", () -> client.post(EdgeService.class, "echoString", "中文 😀"));
        Step.run("echoNode", () -> client.post(EdgeService.class, "echoNode", new Node(7, "named")));
        Step.run("text", () -> client.post(EchoService.class, "text", Data.text50k()));
        Step.run("get", () -> client.get(EdgeService.class, "zero"));
        Step.fails("fail", () -> client.post(EdgeService.class, "fail", "checked"));
        Step.fails("no such method", () -> client.post(EdgeService.class, "nowhere", 1));
        Step.run("after failures", () -> client.post(EdgeService.class, "ping"));
    }

    /** What the request that switches may be. */
    private static void firstRequests() {
        Step.run("first is a GET", () -> new Client().get(EdgeService.class, "zero"));
        Step.fails("first is a GET with a query", () -> new Client().get(UserService.class, "existUser?email=jdoe%40example.org7")); // names of parameters are not known
        Step.fails("first fails", () -> new Client().post(EdgeService.class, "fail", "runtime"));
        Step.fails("first is not there", () -> new Client().post(EdgeService.class, "nowhere", 1));
        Step.run("first is long", () -> new Client().post(EchoService.class, "text", Data.text50k()));
        Step.run("first is in chunks", () -> {
            Client chunked = new Client();
            chunked.body = body -> BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
            chunked.post(EchoService.class, "text", Data.text50k());
            chunked.post(EdgeService.class, "echoString", "the second one");
        });
        Step.run("first waits to be continued", () -> {
            Client waiting = new Client();
            waiting.settings = request -> request.expectContinue(true);
            waiting.post(EdgeService.class, "echoString", "continue");
        });
        Step.run("first has headers", () -> {
            Client versioned = new Client();
            versioned.settings = request -> request.header("tri-service-version", "1.2.3").header("tri-service-group", "blue").header("X-Trace-Id", "0af7651916cd43dd");
            versioned.post(EdgeService.class, "echoString", "blue 1.2.3");
            versioned.post(EdgeService.class, "echoString", "blue again");
        });
    }

    /** Streams beside each other, also those that begin before the switch is answered: these get connections of their own. */
    private static void atOnce() {
        Step.run("at once", () -> {
            Client client = new Client();
            client.post(EdgeService.class, "ping");
            List<CompletableFuture<?>> calls = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                calls.add(client.send(EdgeService.class, "slow", client.posted(EdgeService.class, "slow", "call " + i, 20 + i * 37 % 60), "call " + i, 20 + i * 37 % 60));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get();
        });
    }

    private static final class Client {
        private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        private java.util.function.Function<String, BodyPublisher> body = BodyPublishers::ofString;
        private UnaryOperator<HttpRequest.Builder> settings = request -> request;

        void get(Class<?> service, String path) throws Exception {
            send(service, path.replaceFirst("\\?.*", ""), request(service, path).GET()).get();
        }

        void post(Class<?> service, String method, Object... arguments) throws Exception {
            send(service, method, posted(service, method, arguments), arguments).get();
        }

        HttpRequest.Builder posted(Class<?> service, String method, Object... arguments) {
            return request(service, method).header("Content-Type", "application/json").POST(body.apply(JSON.toJSONString(arguments)));
        }

        private HttpRequest.Builder request(Class<?> service, String path) {
            return settings.apply(HttpRequest.newBuilder(URI.create("http://" + Settings.urlHost() + ":" + Settings.PORT + "/" + service.getName() + "/" + path))
                .timeout(Duration.ofSeconds(20)).header("Accept", "application/json"));
        }

        /** The line of the call has its arguments as the JSON that is sent, and the text of the answer. */
        CompletableFuture<Void> send(Class<?> service, String method, HttpRequest.Builder request, Object... arguments) {
            List<String> types = Arrays.stream(arguments).map(a -> a.getClass().getName()).toList();
            CallLine line = new CallLine("http", Settings.urlHost() + ":" + Settings.PORT, service.getName(), null, null, method, types, arguments, null);
            return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).thenAccept(answer -> {
                if (answer.statusCode() != 200) {
                    IllegalStateException failure = new IllegalStateException(answer.statusCode() + " " + answer.body());
                    line.failed(failure);
                    throw failure;
                }
                if (answer.version() != HttpClient.Version.HTTP_2) {
                    throw new IllegalStateException("the server did not switch");
                }
                line.answered(answer.body());
            });
        }
    }
}
