package org.dubbowire.rig.thrift;

import lombok.AllArgsConstructor;
import lombok.Data;
import lombok.NoArgsConstructor;

/** Fields to which the author has given no ids have negative ones, downwards; ids may also fall. */
@Data
@NoArgsConstructor
@AllArgsConstructor
public final class Legacy implements Struct<Legacy> {
    @Id(-1)
    public String first;
    @Id(-2)
    public int second;
    @Id(32767)
    public boolean last;
    @Id(5)
    public byte low;
}
