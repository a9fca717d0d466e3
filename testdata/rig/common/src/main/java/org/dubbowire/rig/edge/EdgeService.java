package org.dubbowire.rig.edge;

import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Everything that is rare in ordinary traffic. Methods named echo give back their argument. */
public interface EdgeService {
    void ping();

    String zero();

    Object nothing();

    int add(int a, long b);

    String allPrimitives(boolean z, byte b, short s, char c, int i, long l, float f, double d);

    String allBoxes(Boolean z, Byte b, Short s, Character c, Integer i, Long l, Float f, Double d);

    String allArrays(boolean[] z, byte[] b, short[] s, char[] c, int[] i, long[] l, float[] f, double[] d);

    boolean echoBoolean(boolean v);

    byte echoByte(byte v);

    short echoShort(short v);

    char echoChar(char v);

    int echoInt(int v);

    long echoLong(long v);

    float echoFloat(float v);

    double echoDouble(double v);

    Integer echoBox(Integer v);

    int[] echoInts(int[] v);

    long[][] echoLongs2(long[][] v);

    String[] echoStrings(String[] v);

    Object[] echoObjects(Object[] v);

    byte[] echoBytes(byte[] v);

    String echoString(String v);

    Color echoEnum(Color v);

    Date echoDate(Date v);

    Object echoAny(Object v);

    List<Node> echoNodes(List<Node> v);

    Set<String> echoSet(Set<String> v);

    Map<Integer, String> echoIntMap(Map<Integer, String> v);

    Map<String, Object> echoMap(Map<String, Object> v);

    Node echoNode(Node v);

    /** The same object in two arguments. */
    List<Node> pair(Node a, Node b);

    Collection<Object> twice(List<Object> a, List<Object> b);

    Primitives echoPrimitives(Primitives v);

    PrimitiveArrays echoArrays(PrimitiveArrays v);

    Numbers echoNumbers(Numbers v);

    Dates echoDates(Dates v);

    Times echoTimes(Times v);

    Names echoNames(Names v);

    Enums echoEnums(Enums v);

    OnlyName echoOnlyName(OnlyName v);

    Lists echoLists(Lists v);

    Immutables echoImmutables(Immutables v);

    Maps echoMaps(Maps v);

    Derived echoDerived(Derived v);

    Shadow echoShadow(Shadow v);

    Holder<Node> echoHolder(Holder<Node> v);

    Texts echoTexts(Texts v);

    Maybe echoMaybe(Maybe v);

    Immutable echoImmutable(Immutable v);

    Custom.Written echoWritten(Custom.Written v);

    Custom.External echoExternal(Custom.External v);

    String over(int v);

    String over(long v);

    String over(String v);

    String over(List<String> v);

    void event(String text);

    String slow(String v, int millis);

    CompletableFuture<String> future(String v, int millis);

    void fail(String how) throws OrderException;

    Object unwritable();

    String big(int chars);

    byte[] bigBytes(int length);

    String attachments(String how);

    int subscribe(String key, int times, Listener listener);
}
