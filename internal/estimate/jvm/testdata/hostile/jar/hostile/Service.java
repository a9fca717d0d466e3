package hostile;

public interface Service {
    Order echo(Order order);
}
