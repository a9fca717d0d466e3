package org.dubbowire.rig.run;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.dubbo.qos.server.Server;
import org.dubbowire.rig.truth.ExchangeLine;

/** QoS: what an administrator asks a provider, over HTTP and as text. */
public final class Administration implements Extra {
    @Override
    public String name() {
        return "administration";
    }

    @Override
    public void export() throws Exception {
        Server server = Server.getInstance(); // Dubbo starts it itself only where it has a registry
        server.setHost(Settings.HOST);
        server.setPort(Settings.QOS);
        try {
            server.start();
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run() {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (String command : List.of("ls", "help", "help?command=online", "ready", "live", "version", "nowhere")) {
            Step.run(command, () -> {
                HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + Settings.urlHost() + ":" + Settings.QOS + "/" + command)).build();
                http.send(request, HttpResponse.BodyHandlers.ofString());
            });
        }
        Step.run("telnet", () -> {
            try (Socket socket = new Socket(Settings.HOST, Settings.QOS)) {
                socket.setSoTimeout(5000);
                OutputStream out = socket.getOutputStream();
                InputStream in = socket.getInputStream();
                int bytes = read(in);
                for (String command : List.of("help", "ls", "nowhere")) {
                    out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
                    bytes += command.length() + 2 + read(in);
                }
                out.write("quit\r\n".getBytes(StandardCharsets.US_ASCII));
                ExchangeLine.text(bytes + 6 + in.readAllBytes().length);
            }
        });
    }

    private static int read(InputStream in) throws Exception {
        StringBuilder answer = new StringBuilder();
        while (!answer.toString().endsWith("dubbo>")) {
            int c = in.read();
            if (c < 0) {
                throw new IllegalStateException("closed after " + answer);
            }
            answer.append((char) c);
        }
        return answer.length();
    }
}
