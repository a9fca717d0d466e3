import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.reflect.ReflectData;

/** Prints the schemas that Avro's reflection makes of classes, as a union of them. */
public final class Schemas {
    private Schemas() {
    }

    public static void main(String[] names) throws Exception {
        List<Schema> all = new ArrayList<>();
        for (String name : names) {
            all.add(ReflectData.get().getSchema(Class.forName("org.dubbowire.rig.models.reflected." + name)));
        }
        System.out.println(Schema.createUnion(all).toString(true));
    }
}
