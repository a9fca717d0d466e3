package org.dubbowire.rig.truth;

import java.util.List;

/** What one call of Dubbo's codec has done, logged: the same in all generations, whose classes differ. */
public final class CodecTruth {
    private CodecTruth() {
    }

    /** A message of a generation's object model. */
    public interface Message {
        /** Null for all but requests. */
        Long requestId();

        boolean isResponse();

        /** Decodes the body if Dubbo has left it for later; says whether it did. */
        boolean decodeLater() throws Exception;

        /** What Java could not decode, or null. */
        String decodeError(Frame frame, Recorder.Recording stream);
    }

    /** bytes: what an encode call has left in its buffer. Nothing is left where Dubbo has sent an error response instead. */
    public static void sent(Ends ends, byte[] bytes, Message message, Recorder recorder) {
        if (isThrift(bytes)) {
            ThriftMessages.dubbo(ends, "out", bytes);
            return;
        }
        if (bytes.length > 0 && message.isResponse() && !Frame.startsWithMagic(bytes)) {
            // Early releases do not roll back: behind the error response follows what was written of the other one, with no header.
            TruthLine.rubbish(ends, bytes.length);
            return;
        }
        List<Recorder.Recording> streams = recorder.recordings;
        for (Frame frame : Frame.split(bytes)) {
            TruthLine.log(ends, "out", frame, message.requestId(), streams.isEmpty() ? null : streams.get(streams.size() - 1), null);
        }
    }

    /** bytes: what a decode call has taken from its buffer, beginning at start. */
    public static void received(Ends ends, byte[] bytes, int start, List<Message> messages, Recorder recorder) {
        if (isThrift(bytes)) {
            ThriftMessages.dubbo(ends, "in", bytes);
            return;
        }
        int next = 0;
        for (Frame frame : Frame.split(bytes)) {
            Message message = next < messages.size() ? messages.get(next++) : null;
            int from = start + frame.offset();
            Recorder.Recording stream = eager(recorder.recordings, from, from + frame.length());
            if (message == null) {
                TruthLine.log(ends, "in", frame, null, stream, null);
                continue;
            }
            if (stream == null) {
                stream = decodeNow(message);
            }
            TruthLine.log(ends, "in", frame, message.requestId(), stream, message.decodeError(frame, stream));
        }
    }

    /** Whether it is a frame of Dubbo's own Thrift, whose codec is wrapped, too. */
    private static boolean isThrift(byte[] bytes) {
        return bytes.length > 10 && bytes[4] == (byte) 0xda && bytes[5] == (byte) 0xbc;
    }

    /**
     * The stream that was opened while the frame's bytes were being read, if the codec decoded at once. 2.7.1 opens two
     * for a response and reads from the second.
     */
    private static Recorder.Recording eager(List<Recorder.Recording> streams, int from, int to) {
        Recorder.Recording found = null;
        for (Recorder.Recording stream : streams) {
            if (stream.position > from && stream.position <= to && (found == null || found.ops.isEmpty())) {
                found = stream;
            }
        }
        return found;
    }

    /** Newer releases decode a body later, on another thread. Doing it here changes nothing on the wire. */
    private static Recorder.Recording decodeNow(Message message) {
        Recorder recorder = Recorder.begin(() -> 0);
        try {
            if (!message.decodeLater()) {
                return null;
            }
        } catch (Exception e) {
            throw new IllegalStateException(e); // Dubbo's own implementations report failures in the message
        } finally {
            recorder.end();
        }
        return recorder.recordings.isEmpty() ? null : recorder.recordings.get(0);
    }
}
