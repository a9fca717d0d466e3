package hostile;

public class Deep implements java.io.Serializable {
    @Override
    public int hashCode() {
        return new Deep().hashCode() + 1;
    }
}
