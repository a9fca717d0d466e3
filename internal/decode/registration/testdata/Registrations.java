import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * The numbers that Kryo and FST give to classes in Dubbo, with classes that an application registers: lines "kryo ID NAME" and
 * "fst ID NAME". The first argument is the package of Dubbo's class common, the others are names of classes.
 */
public class Registrations {
    public static void main(String[] args) throws Throwable {
        String common = args[0];
        Method register = Class.forName(common + ".serialize.support.SerializableClassRegistry").getMethod("registerClass", Class.class);
        for (int i = 1; i < args.length; i++) {
            register.invoke(null, args[i].equals("int") ? int.class : Class.forName(args[i]));
        }
        Object kryo = Class.forName(common + ".serialize.kryo.utils.KryoUtils").getMethod("get").invoke(null);
        Object resolver = kryo.getClass().getMethod("getClassResolver").invoke(kryo);
        Method byNumber = Class.forName("com.esotericsoftware.kryo.ClassResolver").getMethod("getRegistration", int.class);
        for (int id = 0; id < 1000; id++) {
            Object r = byNumber.invoke(resolver, id);
            if (r != null) {
                System.out.println("kryo " + id + " " + ((Class<?>) r.getClass().getMethod("getType").invoke(r)).getName());
            }
        }
        Object factory = Class.forName(common + ".serialize.fst.FstFactory").getMethod("getDefaultFactory").invoke(null);
        Field conf = factory.getClass().getDeclaredField("conf");
        conf.setAccessible(true);
        Object configuration = conf.get(factory);
        Object registry = configuration.getClass().getMethod("getClassRegistry").invoke(configuration);
        Field infos = registry.getClass().getDeclaredField("idToClz");
        infos.setAccessible(true);
        Object[] all = (Object[]) infos.get(registry);
        for (int id = 0; id < all.length; id++) {
            if (all[id] != null) {
                System.out.println("fst " + id + " " + ((Class<?>) all[id].getClass().getMethod("getClazz").invoke(all[id])).getName());
            }
        }
    }
}
