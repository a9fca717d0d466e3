package hostile;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** What the service declares. */
public class Order implements Serializable {
    public String name;
    public Object any;
    public Item item;
    public Item[] array;
    public List<Item> items;
    public Map<String, Item> map;
    public Number number;
    public int primitive;
    public Kind kind;
    public Holder holder;

    public enum Kind {ONE, TWO}

    public static class Holder implements Serializable {
        public Object inner;
    }
}
