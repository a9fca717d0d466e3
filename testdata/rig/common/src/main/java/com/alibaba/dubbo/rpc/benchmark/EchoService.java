package com.alibaba.dubbo.rpc.benchmark;

/** Both calls give back what they get: the published workloads measure transport and serialization alone. */
public interface EchoService {
    BidRequest bid(BidRequest request);

    String text(String text);
}
