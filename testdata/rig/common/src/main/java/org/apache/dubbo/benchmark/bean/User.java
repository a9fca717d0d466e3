package org.apache.dubbo.benchmark.bean;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** The bean of dubbo-benchmark. */
@Getter
@Setter
public class User implements Serializable {
    private static final long serialVersionUID = 1L;
    private long id;
    private String name;
    private int sex;
    private java.time.LocalDate birthday;
    private String email;
    private String mobile;
    private String address;
    private String icon;
    private List<Integer> permissions;
    private int status;
    private java.time.LocalDateTime createTime;
    private java.time.LocalDateTime updateTime;
}
