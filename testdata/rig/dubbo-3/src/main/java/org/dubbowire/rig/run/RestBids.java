package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import javax.ws.rs.Consumes;
import javax.ws.rs.FormParam;
import javax.ws.rs.POST;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.core.MediaType;

/** The published workloads as resources of Dubbo 3. */
@Path("bids")
public interface RestBids {
    @POST
    @Path("json")
    @Consumes(MediaType.APPLICATION_JSON)
    @Produces(MediaType.APPLICATION_JSON)
    BidRequest json(BidRequest request);

    @POST
    @Path("xml")
    @Consumes(MediaType.TEXT_XML)
    @Produces(MediaType.TEXT_XML)
    BidRequest xml(BidRequest request);

    /** The values of the bid request one by one. */
    @POST
    @Path("form")
    @Consumes(MediaType.APPLICATION_FORM_URLENCODED)
    @Produces(MediaType.APPLICATION_JSON)
    BidRequest form(@FormParam("make") String make, @FormParam("os") String os, @FormParam("city") String city, @FormParam("bidFloor") double bidFloor);

    @POST
    @Path("text")
    @Consumes(MediaType.TEXT_PLAIN)
    @Produces(MediaType.TEXT_PLAIN)
    String text(String text);
}
