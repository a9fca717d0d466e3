package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** What shows the ad. */
@Getter
@Setter
public class Device implements Serializable {
    private static final long serialVersionUID = 1L;
    private String os;
    private String make;
    private String version;
    private String model;
    private String lang;
    private Geo geo;
}
