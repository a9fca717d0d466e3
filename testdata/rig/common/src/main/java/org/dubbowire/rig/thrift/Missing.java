package org.dubbowire.rig.thrift;

import lombok.AllArgsConstructor;
import lombok.Data;
import lombok.EqualsAndHashCode;
import lombok.NoArgsConstructor;
import org.apache.thrift.TException;

@Data
@NoArgsConstructor
@AllArgsConstructor
@EqualsAndHashCode(callSuper = false)
public final class Missing extends TException implements Struct<Missing> {
    @Id(1)
    public String what;
    @Id(2)
    public int code;
}
