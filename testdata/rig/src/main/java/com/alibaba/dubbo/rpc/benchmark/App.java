package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** The application that asks for an ad. */
@Getter
@Setter
public class App implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name;
    private String bundle;
    private List<String> categories;
}
