package org.dubbowire.rig.models;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the models are sent with: declared types of parameters and results. */
public interface Service {
    Scalars scalars(Scalars v, Flags flags);

    Grids grids(Grids v);

    Containers containers(Containers v);

    Deep deep(Deep v);

    Box<String> box(Box<Integer> integers, Box<Square> squares, Box<Circle> circles);

    Pair<String, Integer> pair(Pair<Circle, List<Long>> v);

    Bounded<Integer, Circle> bounded(Bounded<Long, Square> v);

    IntBox intBox(IntBox v, CircleBox circles);

    Lists<Long> lists(Lists<String> v);

    Leaf leaf(Leaf leaf, Middle middle, Base base);

    Node node(Node v);

    Holder holder(Holder v);

    Outer outer(Outer v, Outer.Nested nested);

    Outer.Inner inner(Outer.Nested.Further further);

    Money money(Money v);

    Account account(Account v, Money[] moves);

    Wallet wallet(Wallet v);

    Profile profile(Profile v, Hidden hidden);

    Moments moments(Moments v);

    Misc misc(Misc v);

    Options options(Options v);

    Wrappers wrappers(Wrappers v);

    External external(External v);

    Written written(Written v, WrittenBelow below);

    Defaulted defaulted(Defaulted v);

    Replaced replaced(Replaced v, Single single);

    SelfWritten self(SelfWritten v);

    Names names(Names names, Tags tags, Index index);

    Own own(Own v);

    Failure failure(Failure v);

    Marked marked(Marked v);

    Tagged tagged(Tagged v);

    Compatible compatible(Compatible v);

    Versioned versioned(Versioned v);

    Fast fast(Fast v);

    Shape shape(Shape first, Circle second, Square third, Ring fourth);

    Op op(Op op, Color color, Level level);

    Object any(Object v);

    Serializable serial(Serializable v);

    Number number(int i, Long boxed, BigDecimal decimal, boolean flag, Number number);

    String text(String text, Date date, char letter, CharSequence letters);

    List<Square> squares(List<Circle> v);

    List<Box<Color>> boxes(Set<Level> levels);

    Map<String, Scalars> map(Map<Integer, List<Money>> v);

    Square[] array(Shape[] shapes, int[][] matrix, String[] texts, Object[] any);

    byte[] bytes(byte[] bytes, double[] doubles, Node[][] nodes);

    Functions functions(Functions v);
}
