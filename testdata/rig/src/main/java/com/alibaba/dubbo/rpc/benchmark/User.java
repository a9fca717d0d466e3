package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Who will see the ad. */
@Getter
@Setter
public class User implements Serializable {
    private static final long serialVersionUID = 1L;
    private String id;
    private int yearOfBirth;
    private boolean male;
}
