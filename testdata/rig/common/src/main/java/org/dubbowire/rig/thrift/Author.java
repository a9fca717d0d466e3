package org.dubbowire.rig.thrift;

import lombok.AllArgsConstructor;
import lombok.Data;
import lombok.NoArgsConstructor;

@Data
@NoArgsConstructor
@AllArgsConstructor
public final class Author implements Struct<Author> {
    @Id(1)
    public String name;
    @Id(2)
    public int born;
    @Id(3)
    public Boolean living;
    @Id(4)
    public Author teacher;
}
