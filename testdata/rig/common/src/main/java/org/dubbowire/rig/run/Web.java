package org.dubbowire.rig.run;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.dubbowire.rig.truth.CallLine;

/** A client of HTTP without Dubbo. Each call has its line: what was sent, and the text of the answer. */
class Web {
    /** What an answer is about. */
    record Answer(int status, String body) {
    }

    /** How long a bare socket waits for a server that does not close the connection, in milliseconds. */
    private static final int PATIENCE = Integer.getInteger("rig.patience", 5000);

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** body is null, or what is sent; headers are names and values in turn. */
    final Answer call(String verb, String path, byte[] body, String... headers) throws Exception {
        List<String> types = body == null ? List.of() : List.of("byte[]");
        CallLine line = new CallLine("rest", Settings.urlHost() + ":" + Settings.PORT, null, null, null, null, types, new Object[] {body}, null);
        Answer answer;
        try {
            answer = send(verb, path, body, headers);
        } catch (Exception e) {
            CallLine.http(verb, path, 0);
            line.failed(e);
            throw e;
        }
        CallLine.http(verb, path, answer.status);
        line.answered(answer.body);
        return answer;
    }

    protected Answer send(String verb, String path, byte[] body, String... headers) throws Exception {
        HttpRequest.BodyPublisher publisher = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + Settings.urlHost() + ":" + Settings.PORT + path)).timeout(Duration.ofSeconds(20));
        for (int i = 0; i < headers.length; i += 2) {
            switch (headers[i]) {
                case "expect" -> request.expectContinue(true);
                case "transfer-encoding" -> publisher = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
                default -> request.header(headers[i], headers[i + 1]);
            }
        }
        request.method(verb, publisher);
        HttpResponse<byte[]> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        return new Answer(answer.statusCode(), new String(answer.body(), StandardCharsets.UTF_8));
    }

    /** Sends the bytes on a connection of their own, and reads until the server closes it. */
    static String raw(String... parts) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(Settings.HOST, Settings.PORT), PATIENCE);
            socket.setSoTimeout(PATIENCE);
            socket.setTcpNoDelay(true);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            for (String part : parts) {
                if (part == null) { // what follows waits for something to read
                    answer.write(socket.getInputStream().read());
                    answer.writeBytes(socket.getInputStream().readNBytes(socket.getInputStream().available()));
                } else {
                    socket.getOutputStream().write(part.getBytes(StandardCharsets.UTF_8));
                }
            }
            try {
                socket.getInputStream().transferTo(answer);
            } catch (SocketTimeoutException e) {
                throw new IOException("the server did not close: " + answer.size() + " bytes read", e);
            }
            return answer.toString(StandardCharsets.ISO_8859_1);
        }
    }
}
