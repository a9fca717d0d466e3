package com.alibaba.dubbo.rpc.benchmark;

import java.io.Serializable;
import java.util.*;
import javax.xml.bind.annotation.XmlRootElement;
import lombok.Getter;
import lombok.Setter;

/** The nested object of the comparison in Dubbo's documentation, package and names as in its benchmark. */
@XmlRootElement // REST writes it as XML, too
@Getter
@Setter
public class BidRequest implements Serializable {
    private static final long serialVersionUID = 1L;
    private String id;
    private Device device;
    private List<Impression> impressions;
}
