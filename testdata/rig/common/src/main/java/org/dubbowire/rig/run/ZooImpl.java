package org.dubbowire.rig.run;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.zoo.Faults;
import org.dubbowire.rig.zoo.Shop;
import org.dubbowire.rig.zoo.ZooService;

/** Gives back what it gets, except for the methods that are about answers. */
final class ZooImpl implements InvocationHandler {
    static ZooService service() {
        return (ZooService) Proxy.newProxyInstance(ZooImpl.class.getClassLoader(), new Class<?>[] {ZooService.class}, new ZooImpl());
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "nowhere", "none" -> null;
            case "toString" -> "zoo";
            case "hashCode" -> 1;
            case "equals" -> proxy == arguments[0];
            case "fail" -> throw fault((String) arguments[0]);
            case "answer" -> answer((String) arguments[0]);
            case "sum" -> ((int[]) arguments[1]).length;
            case "three" -> {
                List<Object> all = new ArrayList<>();
                all.add(arguments[2]);
                all.add(arguments[1]);
                all.add(arguments[0]);
                yield all;
            }
            default -> arguments[0];
        };
    }

    private static Throwable fault(String how) {
        Faults.Rejected rejected = new Faults.Rejected("rejected: " + how);
        rejected.setCode(409);
        rejected.setState(Shop.State.已取消);
        rejected.setReasons(new ArrayList<>(List.of("too late", "太晚了")));
        switch (how) {
            case "cause":
                rejected.initCause(new IllegalStateException("outer", new java.io.IOException("inner")));
                return rejected;
            case "suppressed":
                rejected.addSuppressed(new Faults.Denied("first"));
                rejected.addSuppressed(new IllegalArgumentException("second", new Faults.Denied("below")));
                return rejected;
            case "circle": {
                Faults.Denied denied = new Faults.Denied("round");
                rejected.initCause(denied);
                denied.initCause(rejected);
                return rejected;
            }
            case "fields": {
                Shop.Line line = new Shop.Line();
                line.setSku("of the exception");
                line.setBundledWith(line);
                rejected.setLine(line);
                return rejected;
            }
            case "runtime":
                return new Faults.Denied("runtime");
            case "no message":
                return new Faults.Denied();
            case "expired":
                return new Faults.Expired("expired");
            case "business":
                return new Faults.Business("E42", "own message");
            case "quiet":
                return new Faults.Quiet("no stack trace");
            case "initializer":
                return new RuntimeException("around", new ExceptionInInitializerError(new Faults.Denied("in a static block")));
            case "null pointer":
                return new NullPointerException();
            case "chinese":
                return new IllegalArgumentException("参数错误 😀");
            case "long":
                return new IllegalStateException("long ".repeat(3000));
            case "class cast":
                try {
                    Object o = 1;
                    return new IllegalStateException((String) o);
                } catch (ClassCastException e) {
                    return e;
                }
            case "overflow":
                return deep(0);
            default:
                return rejected;
        }
    }

    private static Throwable deep(int n) {
        return n == 60 ? new ArithmeticException("at the bottom") : deep(n + 1);
    }

    private static Object answer(String how) {
        Peer.CURRENT.answer("zoo.key", "answer to " + how);
        Peer.CURRENT.answer("键", "值 😀");
        if (how.equals("objects") && Peer.CURRENT.answerObjectAttachments()) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("n", 1);
            Peer.CURRENT.answer("zoo.map", map);
            Peer.CURRENT.answer("zoo.long", 1L << 40);
        }
        return how.equals("null") ? null : how;
    }
}
