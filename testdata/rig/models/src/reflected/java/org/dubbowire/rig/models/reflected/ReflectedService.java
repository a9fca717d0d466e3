package org.dubbowire.rig.models.reflected;

import java.util.Map;

/** Classes that Avro's reflection can write. */
public interface ReflectedService {
    Scalars scalars(Scalars v, int n, String text);

    Person person(Person v, Person other);

    Address address(Address v, String text, Long number);

    Leaf leaf(Leaf v, Middle middle, Base base);

    Base base(Base v);

    Shapes shapes(Shapes v);

    Shape shape(Shape v, Shape[] all);

    Containers containers(Containers v, String text);

    Arrays arrays(Arrays v, int[] ints);

    Marked marked(Marked v, Mode mode);

    Lost lost(Lost v, Address after);

    Holder holder(String before, Holder v);

    Tree tree(Tree v, Tree other, Tree third);

    Mode mode(Mode v, Mode[] all);

    Wrapped wrapped(Wrapped v);

    Address[] array(Person[] all, Scalars[] scalars);

    Point point(Point v, Nothing nothing);

    Generated generated(Generated v, Generated[] all);

    Phantom<String> phantom(Phantom<Integer> v, Long number, Phantom<Long> other);

    Object any(Object v);

    Map<String, Person> map(Map<String, Person> v, Tree tree);

    String text(String a, Address b, Integer c, Integer d);
}
