package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Size and position of the ad. */
@Getter
@Setter
public class Banner implements Serializable {
    private static final long serialVersionUID = 1L;
    private int width;
    private int height;
    private String position;
}
