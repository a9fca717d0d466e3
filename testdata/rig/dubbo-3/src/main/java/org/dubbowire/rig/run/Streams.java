package org.dubbowire.rig.run;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.StatusRpcException;
import org.apache.dubbo.rpc.TriRpcStatus;
import org.dubbowire.rig.three.LoggedStream;
import org.dubbowire.rig.truth.StreamLine;

/** Both ends of streaming calls, whatever their messages are: beans or protobuf. */
final class Streams<T> {
    private final String service;
    private final BiFunction<Integer, String, T> make;
    private final ToIntFunction<T> id;
    private final Function<T, String> name;

    Streams(String service, BiFunction<Integer, String, T> make, ToIntFunction<T> id, Function<T, String> name) {
        this.service = service;
        this.make = make;
        this.id = id;
        this.name = name;
    }

    private StreamLine line(String method) {
        return new StreamLine("tri", Settings.urlHost() + ":" + Settings.PORT, service, method);
    }

    private static StatusRpcException status(String text) {
        return new StatusRpcException(TriRpcStatus.fromCode(11).withDescription(text));
    }

    // The provider.

    void countdown(T from, StreamObserver<T> to) {
        StreamLine line = line("countdown");
        line.request(from);
        StreamObserver<T> answers = LoggedStream.answers(to, line);
        for (int i = id.applyAsInt(from); i > 0; i--) {
            answers.onNext(make.apply(i, name.apply(from)));
        }
        if (name.apply(from).equals("fail")) {
            answers.onError(status("no further: 100 % of it"));
        } else {
            answers.onCompleted();
        }
    }

    StreamObserver<T> chat(StreamObserver<T> to) {
        StreamLine line = line("chat");
        StreamObserver<T> answers = LoggedStream.answers(to, line);
        return LoggedStream.requests(new StreamObserver<>() {
            @Override
            public void onNext(T message) {
                if (name.apply(message).equals("fail")) {
                    answers.onError(status("not this one"));
                } else {
                    answers.onNext(make.apply(-id.applyAsInt(message), name.apply(message)));
                }
            }

            @Override
            public void onError(Throwable failure) {
                // the line is written
            }

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        }, line);
    }

    StreamObserver<T> collect(StreamObserver<T> to) {
        StreamLine line = line("collect");
        StreamObserver<T> answers = LoggedStream.answers(to, line);
        return LoggedStream.requests(new StreamObserver<>() {
            private int sum;
            private int count;

            @Override
            public void onNext(T message) {
                sum += id.applyAsInt(message);
                count++;
            }

            @Override
            public void onError(Throwable failure) {
                // the line is written
            }

            @Override
            public void onCompleted() {
                answers.onNext(make.apply(sum, count + " messages"));
                answers.onCompleted();
            }
        }, line);
    }

    // The consumer.

    /** Each kind of stream, and how it can end. */
    static <T> void all(String what, Streams<T> streams, BiConsumer<T, StreamObserver<T>> countdown,
            Function<StreamObserver<T>, StreamObserver<T>> chat, Function<StreamObserver<T>, StreamObserver<T>> collect) {
        Step.run(what + " server stream", () -> streams.countdown(8, "streamed", countdown));
        Step.run(what + " server stream without answers", () -> streams.countdown(0, "streamed", countdown));
        Step.fails(what + " server stream fails", () -> streams.countdown(2, "fail", countdown));
        Step.run(what + " chat", () -> streams.send("chat", true, chat, "one", "two", "three"));
        Step.run(what + " chat at once", () -> streams.send("chat", false, chat, "one", "two", "three", "four", "five"));
        Step.fails(what + " chat fails", () -> streams.send("chat", true, chat, "one", "fail"));
        Step.run(what + " collect", () -> streams.send("collect", false, collect, "one", "two", "three", "four"));
        Step.run(what + " cancelled", () -> streams.cancel(chat));
    }

    void countdown(int from, String name, BiConsumer<T, StreamObserver<T>> call) throws Exception {
        Answers answers = new Answers();
        StreamLine line = line("countdown");
        T request = make.apply(from, name);
        line.request(request);
        call.accept(request, LoggedStream.answers(answers, line));
        answers.ended.get(10, TimeUnit.SECONDS);
    }

    /** Requests of these names; each is sent when the one before has been answered, if they are to be answered one by one. */
    void send(String method, boolean oneByOne, Function<StreamObserver<T>, StreamObserver<T>> call, String... names) throws Exception {
        Answers answers = new Answers();
        StreamLine line = line(method);
        StreamObserver<T> requests = LoggedStream.requests(call.apply(LoggedStream.answers(answers, line)), line);
        for (int i = 0; i < names.length; i++) {
            CompletableFuture<Void> answered = answers.next();
            requests.onNext(make.apply(i + 1, names[i]));
            if (oneByOne) {
                answered.get(10, TimeUnit.SECONDS);
            }
        }
        requests.onCompleted();
        answers.ended.get(10, TimeUnit.SECONDS);
    }

    /** Sends one request and gives up. */
    void cancel(Function<StreamObserver<T>, StreamObserver<T>> call) throws Exception {
        Answers answers = new Answers();
        StreamLine line = line("chat");
        StreamObserver<T> requests = LoggedStream.requests(call.apply(LoggedStream.answers(answers, line)), line);
        CompletableFuture<Void> answered = answers.next();
        requests.onNext(make.apply(1, "and no more"));
        answered.get(10, TimeUnit.SECONDS);
        requests.onError(new IllegalStateException("given up"));
        Thread.sleep(200);
    }

    private final class Answers implements StreamObserver<T> {
        final CompletableFuture<Void> ended = new CompletableFuture<>();
        private volatile CompletableFuture<Void> next = new CompletableFuture<>();

        CompletableFuture<Void> next() {
            next = new CompletableFuture<>();
            return next;
        }

        @Override
        public void onNext(T message) {
            next.complete(null);
        }

        @Override
        public void onError(Throwable failure) {
            next.completeExceptionally(failure);
            ended.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            next.complete(null);
            ended.complete(null);
        }
    }
}
