package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** One place for an ad. */
@Getter
@Setter
public class Impression implements Serializable {
    private static final long serialVersionUID = 1L;
    private String id;
    private double bidFloor;
}
