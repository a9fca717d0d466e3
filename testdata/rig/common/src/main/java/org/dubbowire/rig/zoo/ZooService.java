package org.dubbowire.rig.zoo;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Every method but the last ones gives back its first argument. The workload calls all of them with made values. */
public interface ZooService {
    Shop.Order order(Shop.Order v);

    Shop.Line line(Shop.Line v);

    Shop.Payment payment(Shop.Payment v);

    Shop.Page<Shop.Line> page(Shop.Page<Shop.Line> v);

    Shop.Page<Shop.Page<Depot.Place>> pages(Shop.Page<Shop.Page<Depot.Place>> v);

    List<Shop.Order> orders(List<Shop.Order> v);

    Map<Shop.State, List<Shop.Line>> byState(Map<Shop.State, List<Shop.Line>> v);

    Map<Depot.Place, Shop.Line> byPlace(Map<Depot.Place, Shop.Line> v);

    Shop.State state(Shop.State v);

    Shop.State[] states(Shop.State[] v);

    Depot.Grid grid(Depot.Grid v);

    Depot.Stock stock(Depot.Stock v);

    Depot.Racks racks(Depot.Racks v);

    Depot.Place[][] places(Depot.Place[][] v);

    Cover.Policy policy(Cover.Policy v);

    Cover.Level3 level(Cover.Level3 v);

    Cover.Level1 lowest(Cover.Level1 v);

    Cover.Dates dates(Cover.Dates v);

    Cover.Clock clock(Cover.Clock v);

    Cover.Times times(Cover.Times v);

    Cover.Term term(Cover.Term v);

    Cover.Sums sums(Cover.Sums v);

    Chat.Message message(Chat.Message v);

    Chat.Content content(Chat.Content v);

    List<Chat.Content> contents(List<Chat.Content> v);

    Chat.Member member(Chat.Member v);

    Odd.Fields fields(Odd.Fields v);

    Odd.Dollars dollars(Odd.Dollars v);

    Odd.Wide wide(Odd.Wide v);

    Odd.Name name(Odd.Name v);

    Odd.Value value(Odd.Value v);

    Odd.OneInt oneInt(Odd.OneInt v);

    Odd.Ordinal ordinal(Odd.Ordinal v);

    Odd.Nothing nothing(Odd.Nothing v);

    Odd.AnInsuranceCompanyCustomerRelationshipManagementDataTransferObjectBase longName(
        Odd.AnInsuranceCompanyCustomerRelationshipManagementDataTransferObjectBase v);

    q.T shortName(q.T v);

    Records.Route route(Records.Route v);

    Records.Point point(Records.Point v);

    String text(String v);

    byte[] binary(byte[] v);

    Object any(Object v);

    Object[] anyArray(Object[] v);

    List<Object> anyList(List<Object> v);

    Map<String, Object> anyMap(Map<String, Object> v);

    Map<Object, Object> anyKeys(Map<Object, Object> v);

    Collection<Long> longs(Collection<Long> v);

    Set<Shop.Channel> channels(Set<Shop.Channel> v);

    List<BigDecimal> decimals(List<BigDecimal> v);

    Map<Long, Date> daysById(Map<Long, Date> v);

    int[][] matrix(int[][] v);

    Integer many(Integer a, long b, String c, Shop.Line d, List<String> e, Map<String, Integer> f, byte[] g, Shop.State h, Date i, Object j, double k, boolean l, char m, short n);

    String over(String v);

    String over(String v, int more);

    Shop.Line over(Shop.Line v);

    Object over(Object v, Object w);

    String[] rest(String[] v);

    Chat.Member two(Chat.Member a, Chat.Member b);

    Object three(Object a, Object b, Object c);

    void nowhere(String v);

    Object none(Object v);

    Object fail(String how) throws Faults.Rejected;

    Object answer(String how);

    int sum(String first, int... rest);
}
