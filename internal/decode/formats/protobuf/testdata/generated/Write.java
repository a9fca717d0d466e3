import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.ExtensionRegistry;
import com.google.protobuf.Message;
import com.google.protobuf.Value;
import ed.java.First;
import ed.java.First.A;
import two.java.B;
import two.java.Second;

/** Writes a message of each kind: its class and its bytes. */
public class Write {
    public static void main(String[] args) {
        A.In in = A.In.newBuilder().setS("in").setClosed(A.Closed.TWO).build();
        A small = A.newBuilder().addList(-1).setUnsigned(-1L).build();
        B b = B.newBuilder().setG(B.G.newBuilder().setN(-5)).setA(small).addPacked(1).addPacked(-1).setFlag(false).build();
        A full = A.newBuilder().setAny(Any.pack(in)).setA(small).addList(3).addList(0).setIn(in)
            .setDuration(Duration.newBuilder().setSeconds(-1).setNanos(-500000000)).setValue(Value.newBuilder().setNumberValue(1.5))
            .putMap("", A.In.getDefaultInstance()).putMap("k", in).setImplicit(7)
            .setExtension(First.text, "text").setExtension(Second.b, b).build();
        A wrapped = A.newBuilder().setAny(Any.pack(full)).setA(A.newBuilder().setA(small)).build();
        for (Message m : new Message[] {in, small, b, full, wrapped, A.getDefaultInstance()}) {
            StringBuilder hex = new StringBuilder();
            for (byte c : m.toByteArray()) {
                hex.append(String.format("%02x", c));
            }
            System.out.println(m.getClass().getName() + "\t" + hex);
        }
    }
}
