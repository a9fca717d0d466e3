package org.apache.dubbo.benchmark.bean;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** The page of dubbo-benchmark. */
@Getter
@Setter
public class Page<T> implements Serializable {
    private static final long serialVersionUID = 1L;
    private int pageNo;
    private int total;
    private List<T> result;
}
