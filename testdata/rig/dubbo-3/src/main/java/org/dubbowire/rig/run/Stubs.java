package org.dubbowire.rig.run;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.StatusRpcException;
import org.apache.dubbo.rpc.TriRpcStatus;
import org.dubbowire.rig.notes.DubboNotesTriple;
import org.dubbowire.rig.notes.Kind;
import org.dubbowire.rig.notes.Note;
import org.dubbowire.rig.notes.Notes;
import org.dubbowire.rig.notes.Nothing;

/** Triple through the stubs that Dubbo's compiler generates: each kind of call a few times, always with protobuf messages. */
public final class Stubs implements Extra {
    private static final Streams<Note> STREAMS = new Streams<>(Notes.class.getName(), Stubs::note, Note::getId, Note::getName);

    private static final class Implementation extends DubboNotesTriple.NotesImplBase {
        @Override
        public Note echo(Note request) {
            return request;
        }

        @Override
        public Nothing fail(Note how) {
            switch (how.getName()) {
                case "status" -> throw new StatusRpcException(TriRpcStatus.fromCode(5).withDescription("no such note: 库存 100 %"));
                case "cause" -> throw new IllegalStateException("outer", new IllegalArgumentException("inner"));
                case "null" -> throw new IllegalArgumentException((String) null);
                default -> throw new IllegalStateException(how.getName());
            }
        }

        @Override
        public Nothing answer(Note how) {
            Peer.CURRENT.answer("answered", how.getName());
            return Nothing.getDefaultInstance();
        }

        @Override
        public Note slow(Note millis) {
            try {
                Thread.sleep(millis.getId());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return millis;
        }

        @Override
        public void countdown(Note from, StreamObserver<Note> answers) {
            STREAMS.countdown(from, answers);
        }

        @Override
        public StreamObserver<Note> collect(StreamObserver<Note> answers) {
            return STREAMS.collect(answers);
        }

        @Override
        public StreamObserver<Note> chat(StreamObserver<Note> answers) {
            return STREAMS.chat(answers);
        }
    }

    private Notes notes;

    @Override
    public String name() {
        return "stubs";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(Notes.class, new Implementation(), null, null);
        Peer.CURRENT.export(Notes.class, new Implementation(), "blue", "1.2.3");
    }

    @Override
    public void run() throws Exception {
        notes = Remote.of(Notes.class).get();
        values();
        failures();
        manners();
        attachments();
        Streams.all("stub", STREAMS, notes::countdown, notes::chat, notes::collect);
        late();
    }

    private static Note note(int id, String name) {
        return Note.newBuilder().setId(id).setName(name).build();
    }

    private static Note full() {
        return note(-1, "中文 😀").toBuilder().addParts(note(2, "part").toBuilder().addParts(note(3, "of a part"))).addParts(Note.getDefaultInstance())
            .putMarks("", 1L << 40).putMarks("minus", -1).setPicture(ByteString.copyFrom(Samples.bytes(300)))
            .setWritten(Timestamp.newBuilder().setSeconds(1574150400).setNanos(123_000_000)).setRating(0.1).addChanges(-1).addChanges(1 << 30)
            .setKind(Kind.URGENT).build();
    }

    private void values() {
        for (int i = 0; i < 8; i++) {
            Note n = note(i, "note " + i);
            Step.run("echo", () -> notes.echo(n));
        }
        Step.run("echo full", () -> notes.echo(full()));
        Step.run("echo empty", () -> notes.echo(Note.getDefaultInstance()));
        Step.run("echo long", () -> notes.echo(note(1, Data.text50k()))); // several DATA frames
    }

    private void failures() {
        for (String how : List.of("runtime", "cause", "null", "status")) {
            Step.fails("fail " + how, () -> notes.fail(note(1, how)));
        }
        Notes wrongVersion = Remote.of(Notes.class).group(null, "9.9.9").get();
        Step.fails("unknown version", () -> wrongVersion.echo(note(1, "nobody")));
        Step.run("after failures", () -> notes.echo(note(1, "after failures")));
    }

    private void manners() {
        Notes versioned = Remote.of(Notes.class).group("blue", "1.2.3").get();
        Step.run("group and version", () -> versioned.echo(note(1, "blue 1.2.3")));
        Step.run("interleaved", () -> {
            List<CompletableFuture<Note>> calls = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                calls.add(notes.slowAsync(note(20 + i * 37 % 60, "call " + i)));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        });
        Notes own = Remote.of(Notes.class).connections(1).get();
        Step.run("own connection", () -> own.echo(note(1, "on a second connection")));
    }

    private void attachments() {
        Step.run("attachments", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd");
            Peer.CURRENT.attach("UserId", "u-17"); // upper case: there is a header that maps it
            Peer.CURRENT.attach("empty", "");
            notes.answer(note(1, "strings"));
        });
        Step.run("attachments beyond ASCII", () -> {
            Peer.CURRENT.attach("city", "北京");
            notes.answer(note(1, "北京"));
        });
        Step.run("attachments objects", () -> {
            Peer.CURRENT.attach("number", 42);
            Peer.CURRENT.attach("token", new byte[] {0, 1, 2, -1}); // -bin
            notes.answer(note(1, "objects"));
        });
    }

    private static void late() throws InterruptedException {
        Notes impatient = Remote.of(Notes.class).timeout(150).get();
        Step.fails("timeout", () -> impatient.slow(note(500, "late")));
        Thread.sleep(700);
    }
}
