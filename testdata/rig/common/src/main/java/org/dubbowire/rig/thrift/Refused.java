package org.dubbowire.rig.thrift;

import java.util.List;
import lombok.AllArgsConstructor;
import lombok.Data;
import lombok.EqualsAndHashCode;
import lombok.NoArgsConstructor;
import org.apache.thrift.TException;

@Data
@NoArgsConstructor
@AllArgsConstructor
@EqualsAndHashCode(callSuper = false)
public final class Refused extends TException implements Struct<Refused> {
    @Id(1)
    public String reason;
    @Id(2)
    public List<String> hints;
}
