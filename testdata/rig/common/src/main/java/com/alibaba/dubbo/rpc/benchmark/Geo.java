package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Where the device is. */
@Getter
@Setter
public class Geo implements Serializable {
    private static final long serialVersionUID = 1L;
    private String country;
    private String city;
    private float lat;
    private float lon;
}
