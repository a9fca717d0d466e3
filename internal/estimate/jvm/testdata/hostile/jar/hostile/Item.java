package hostile;

public class Item implements java.io.Serializable {
    public String text;
}
