package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.math.BigDecimal;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.models.Circle;
import org.dubbowire.rig.models.Color;
import org.dubbowire.rig.models.Op;
import org.dubbowire.rig.models.Square;

@DefaultSerializer(CompatibleFieldSerializer.class)
public class Evolving extends EvolvingBase {
    private String text;
    private int number;
    private boolean flag;
    private char letter;
    private double real;
    private Square square;
    private Square added;
    private String extra;
    private long extraNumber;
    private Circle circle;
    private Color color;
    private Op op;
    private Object any;
    private Date date;
    private BigDecimal decimal;
    private byte[] bytes;
    private List<String> texts;
    private List<Entry> entries;
    private Map<String, Integer> counts;
    private String[] names;
    private Evolving next;
    private Tagged tagged;
}
