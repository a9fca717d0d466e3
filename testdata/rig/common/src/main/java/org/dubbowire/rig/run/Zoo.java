package org.dubbowire.rig.run;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.dubbowire.rig.zoo.Chat;
import org.dubbowire.rig.zoo.Depot;
import org.dubbowire.rig.zoo.Many;
import org.dubbowire.rig.zoo.Odd;
import org.dubbowire.rig.zoo.Shop;
import org.dubbowire.rig.zoo.ZooService;

/**
 * Models that no decoder was written against, filled at random. -Drig.seed chooses the values, -Drig.rounds how often each method is
 * called, -Drig.share=2 that only every second of the Animals is sent; with -Drig.large texts and lists are long, and the Animals are sent alone, too.
 */
public final class Zoo implements Extra {
    private static final long SEED = Long.getLong("rig.seed", 1);
    private static final int ROUNDS = Integer.getInteger("rig.rounds", 1);
    private static final int SHARE = Integer.getInteger("rig.share", 1);
    static final boolean LARGE = Boolean.getBoolean("rig.large");
    private static final Set<String> BY_HAND = Set.of("fail", "answer", "nowhere", "sum", "over", "two", "three");
    private ZooService zoo;
    private final Filler filler = new Filler(SEED);

    @Override
    public String name() {
        return "zoo";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(ZooService.class, ZooImpl.service(), null, null);
    }

    @Override
    public void run() throws Exception {
        zoo = Remote.of(ZooService.class).get();
        declared();
        int n = 0;
        for (Animals.Animal a : new Animals(SEED, LARGE).all()) {
            if (n++ % SHARE == SEED % SHARE) {
                Step.run("any " + a.name(), () -> zoo.any(a.maker().call()));
            }
        }
        texts();
        shared();
        sizes();
        failures();
        manners();
        Thread.sleep(200);
    }

    /** All methods in the order of their names, with values of the declared types. */
    private void declared() {
        Method[] methods = ZooService.class.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (int round = 0; round < ROUNDS; round++) {
            for (Method m : methods) {
                if (!BY_HAND.contains(m.getName())) {
                    call(m.getName() + " " + round, m);
                }
            }
        }
    }

    private void call(String step, Method m) {
        Type[] types = m.getGenericParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = filler.make(types[i]);
        }
        Step.run(step, () -> {
            try {
                m.invoke(zoo, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof Exception x ? x : new RuntimeException(e.getCause());
            }
        });
    }

    private void texts() {
        int[] lengths = LARGE ? new int[] {31, 32, 255, 256, 1023, 1024, 4095, 4096, 8192, 32767, 32768, 65535, 65536, 70000} : new int[] {31, 32, 255, 256, 1024, 32768};
        for (int length : lengths) {
            List<Object> all = new ArrayList<>();
            for (String letters : List.of("ab", "aé", "中文", "a😀中", "😀", "a\ud83d", "\0\n")) {
                Odd.Name name = new Odd.Name();
                name.setName(text(letters, length));
                all.add(name);
                if (LARGE) {
                    Step.run("text " + length, () -> zoo.text(text(letters, length)));
                }
            }
            byte[] bytes = LARGE ? filler.bytes(length) : new byte[length];
            all.add(bytes);
            Step.run("texts of " + length, () -> zoo.any(all));
            Step.run("binary " + length, () -> zoo.binary(bytes));
        }
    }

    /** Random only where captures need not be small. */
    private String text(String letters, int length) {
        return LARGE ? filler.text(letters, length) : Samples.repeat(letters, length);
    }

    /** The same objects in several places. */
    private void shared() {
        List<Chat.Member> circle = Chat.circle(4);
        Step.run("circle", () -> zoo.any(circle));
        Step.run("circle declared", () -> zoo.member(circle.get(0)));
        Step.run("shared by two", () -> zoo.two(circle.get(0), circle.get(1)));
        Step.run("same twice", () -> zoo.two(circle.get(2), circle.get(2)));
        Step.run("shared by three", () -> {
            Shop.Line line = (Shop.Line) filler.make(Shop.Line.class);
            List<Object> list = new ArrayList<>(Arrays.asList(line, "text", line, 5));
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("line", line);
            map.put("list", list);
            map.put("map", map);
            zoo.three(list, line, map);
        });
        Step.run("equal, not the same", () -> {
            List<Object> list = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Depot.Place place = new Depot.Place();
                place.setAisle(7);
                place.setShelf("equal");
                list.add(place);
                list.add(new Date(5000));
                list.add("equal texts".repeat(2));
                list.add(new int[] {1, 2});
            }
            zoo.any(list);
        });
        Step.run("array in itself", () -> {
            Object[] array = {1, null, "in itself"};
            array[1] = array;
            zoo.any(array);
        });
        Step.run("array shared", () -> {
            int[] ints = {1, 2, 3};
            byte[] bytes = {4, 5};
            zoo.any(new Object[] {ints, bytes, ints, bytes, new int[][] {ints, ints}});
        });
        if (Peer.CURRENT.requestObjectAttachments()) {
            Step.run("shared with attachments", () -> {
                Chat.Member member = circle.get(3);
                Peer.CURRENT.attach("zoo.member", member);
                Peer.CURRENT.attach("zoo.state", Shop.State.paid);
                Peer.CURRENT.attach("zoo.bytes", new byte[] {1, 2});
                zoo.member(member);
            });
        }
    }

    private void sizes() {
        Step.run("deep", () -> {
            q.T top = null;
            for (int i = 0; i < 100; i++) {
                q.T t = new q.T();
                t.setI(i);
                t.setT(top);
                top = t;
            }
            zoo.shortName(top);
        });
        Step.run("deep lists", () -> {
            Object list = "innermost";
            for (int i = 0; i < 100; i++) {
                list = new ArrayList<>(Arrays.asList(list));
            }
            zoo.any(list);
        });
        int many = LARGE ? 5000 : 60;
        Step.run("wide", () -> {
            List<Object> all = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                Depot.Place place = new Depot.Place();
                place.setAisle(i);
                place.setShelf("shelf " + i % 10);
                all.add(place);
            }
            zoo.any(all);
        });
        Step.run("wide ints", () -> {
            int[] all = new int[many];
            Arrays.setAll(all, i -> i * i);
            zoo.any(all);
        });
        Step.run("many classes", () -> zoo.any(Many.all()));
        Step.run("equal texts", () -> {
            List<Object> all = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                all.add(i % 2 == 0 ? "the same text" : new String("the same text"));
            }
            zoo.anyList(all);
        });
    }

    private void failures() {
        for (String how : List.of("plain", "cause", "suppressed", "circle", "fields", "runtime", "no message", "expired", "business", "quiet", "initializer", "null pointer", "chinese", "long",
            "class cast", "overflow")) {
            Step.fails("fail " + how, () -> zoo.fail(how));
        }
        Step.fails("undeclared method", () -> Remote.generic(ZooService.class.getName(), "true").invoke("nobody", List.of("int"), 1));
    }

    private void manners() {
        Step.run("nowhere", () -> zoo.nowhere("void"));
        Step.run("over", () -> zoo.over("text"));
        Step.run("over", () -> zoo.over("text", 5));
        Step.run("over", () -> zoo.over((Shop.Line) filler.make(Shop.Line.class)));
        Step.run("over", () -> zoo.over(1, 2L));
        Step.run("sum", () -> zoo.sum("none"));
        Step.run("sum", () -> zoo.sum("three", 1, 2, 3));
        for (String how : List.of("plain", "null", "objects")) {
            Step.run("answer " + how, () -> zoo.answer(how));
        }
        Step.run("attachments", () -> {
            for (String key : List.of("a.b", "a[0]", "k\"q", "键", "@at", "$ref", "class", "with space", "k".repeat(300))) {
                Peer.CURRENT.attach(key, "value of " + key);
            }
            Peer.CURRENT.attach("lone", "x\ud83dy");
            zoo.text("attachments");
        });
        ZooService async = Remote.of(ZooService.class).async("any").get();
        Step.run("async", () -> {
            async.any(filler.make(Shop.Line.class));
            Peer.CURRENT.future().get(5, TimeUnit.SECONDS);
        });
        Step.run("$echo", () -> Peer.CURRENT.echo(zoo, filler.make(Shop.Order.class)));
        generic();
    }

    private void generic() {
        String service = ZooService.class.getName();
        Map<String, Object> line = new HashMap<>();
        line.put("class", Shop.Line.class.getName());
        line.put("sku", "of a map");
        line.put("quantity", 3);
        line.put("price", new java.math.BigDecimal("1.50"));
        line.put("state", "paid");
        List<String> types = List.of(Shop.Line.class.getName());
        Step.run("$invoke", () -> Remote.generic(service, "true").invoke("line", types, line));
        Step.run("$invoke bean as map", () -> Remote.generic(service, "true").invoke("any", List.of("java.lang.Object"), filler.make(Shop.Order.class)));
        Step.run("$invoke list", () -> Remote.generic(service, "true").invoke("orders", List.of("java.util.List"), new ArrayList<>(List.of(new HashMap<>(Map.of("id", 5))))));
        Step.run("$invoke raw.return", () -> Remote.generic(service, "raw.return").invoke("line", types, line));
        Step.run("$invoke bean descriptor", () -> Remote.generic(service, "bean").invoke("line", types, Peer.CURRENT.describe(filler.make(Shop.Line.class))));
        Step.run("$invoke two", () -> Remote.generic(service, "true").invoke("over", List.of("java.lang.String", "int"), "two", 2));
    }
}
