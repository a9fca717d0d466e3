package org.dubbowire.rig.proxies;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import javax.servlet.ReadListener;
import javax.servlet.ServletInputStream;
import javax.servlet.ServletOutputStream;
import javax.servlet.WriteListener;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletRequestWrapper;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpServletResponseWrapper;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.remoting.http.HttpBinder;
import org.apache.dubbo.remoting.http.HttpHandler;
import org.apache.dubbo.remoting.http.HttpServer;
import org.dubbowire.rig.truth.Ends;
import org.dubbowire.rig.truth.ExchangeLine;

/** Dubbo wraps what starts its servers of HTTP in this class: the bodies that the servlet reads and writes are logged. */
public final class BinderTruth implements HttpBinder {
    private final HttpBinder delegate;

    public BinderTruth(HttpBinder delegate) {
        this.delegate = delegate;
    }

    @Override
    public HttpServer bind(URL url, HttpHandler handler) {
        return delegate.bind(url, (request, response) -> {
            ByteArrayOutputStream in = new ByteArrayOutputStream();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Ends ends = new Ends(new InetSocketAddress(request.getLocalAddr(), request.getLocalPort()), new InetSocketAddress(request.getRemoteAddr(), request.getRemotePort()));
            String failure = null;
            try {
                handler.handle(new Request(request, in), new Response(response, out));
            } catch (IOException | RuntimeException | javax.servlet.ServletException e) {
                failure = e.toString();
                throw e;
            } finally {
                ExchangeLine.log(ends, request.getMethod(), request.getRequestURI(), request.getContentType(), in.toByteArray(), response.getStatus(), out.toByteArray(), failure);
            }
        });
    }

    private static final class Request extends HttpServletRequestWrapper {
        private final ByteArrayOutputStream copy;

        Request(HttpServletRequest request, ByteArrayOutputStream copy) {
            super(request);
            this.copy = copy;
        }

        @Override
        public ServletInputStream getInputStream() throws IOException {
            ServletInputStream in = super.getInputStream();
            return new ServletInputStream() {
                @Override
                public int read() throws IOException {
                    int b = in.read();
                    if (b >= 0) {
                        copy.write(b);
                    }
                    return b;
                }

                @Override
                public int read(byte[] bytes, int from, int length) throws IOException {
                    int n = in.read(bytes, from, length);
                    if (n > 0) {
                        copy.write(bytes, from, n);
                    }
                    return n;
                }

                @Override
                public boolean isFinished() {
                    return in.isFinished();
                }

                @Override
                public boolean isReady() {
                    return in.isReady();
                }

                @Override
                public void setReadListener(ReadListener listener) {
                    in.setReadListener(listener);
                }
            };
        }
    }

    private static final class Response extends HttpServletResponseWrapper {
        private final ByteArrayOutputStream copy;

        Response(HttpServletResponse response, ByteArrayOutputStream copy) {
            super(response);
            this.copy = copy;
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            ServletOutputStream out = super.getOutputStream();
            return new ServletOutputStream() {
                @Override
                public void write(int b) throws IOException {
                    copy.write(b);
                    out.write(b);
                }

                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    copy.write(bytes, from, length);
                    out.write(bytes, from, length);
                }

                @Override
                public void flush() throws IOException {
                    out.flush();
                }

                @Override
                public boolean isReady() {
                    return out.isReady();
                }

                @Override
                public void setWriteListener(WriteListener listener) {
                    out.setWriteListener(listener);
                }
            };
        }
    }
}
