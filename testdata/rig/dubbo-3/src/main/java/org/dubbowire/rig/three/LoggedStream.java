package org.dubbowire.rig.three;

import java.util.function.Consumer;
import org.apache.dubbo.common.stream.StreamObserver;
import org.dubbowire.rig.truth.StreamLine;

/** Hands a stream on and notes its messages. The direction that ends the call, that of the answers, also writes the line. */
public final class LoggedStream<T> implements StreamObserver<T> {
    private final StreamObserver<T> next;
    private final Consumer<Object> note;
    private final Consumer<Throwable> end;

    private LoggedStream(StreamObserver<T> next, Consumer<Object> note, Consumer<Throwable> end) {
        this.next = next;
        this.note = note;
        this.end = end;
    }

    public static <T> StreamObserver<T> requests(StreamObserver<T> next, StreamLine line) {
        return new LoggedStream<>(next, line::request, failure -> {
            if (failure != null) {
                line.ended(failure);
            }
        });
    }

    public static <T> StreamObserver<T> answers(StreamObserver<T> next, StreamLine line) {
        return new LoggedStream<>(next, line::response, line::ended);
    }

    @Override
    public void onNext(T message) {
        note.accept(message);
        next.onNext(message);
    }

    @Override
    public void onError(Throwable failure) {
        end.accept(failure);
        next.onError(failure);
    }

    @Override
    public void onCompleted() {
        end.accept(null);
        next.onCompleted();
    }
}
