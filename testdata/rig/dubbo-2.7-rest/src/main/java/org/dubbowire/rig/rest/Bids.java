package org.dubbowire.rig.rest;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import javax.ws.rs.Consumes;
import javax.ws.rs.POST;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.core.MediaType;
import org.apache.dubbo.rpc.protocol.rest.support.ContentType;
import org.jboss.resteasy.annotations.GZIP;

/** The published workloads as resources, in each form: JSON or XML, plain or compressed. RESTEasy takes its annotations from one interface. */
public interface Bids {
    BidRequest bid(BidRequest request);

    String text(String text);

    /** JSON. */
    @Path("bids")
    interface Json extends Bids {
        @Override
        @POST
        @Path("bid")
        @Consumes(MediaType.APPLICATION_JSON)
        @Produces(ContentType.APPLICATION_JSON_UTF_8)
        BidRequest bid(BidRequest request);

        @Override
        @POST
        @Path("text")
        @Consumes(MediaType.TEXT_PLAIN)
        @Produces(ContentType.TEXT_PLAIN_UTF_8)
        String text(String text);
    }

    /** XML. */
    @Path("bids")
    interface Xml extends Bids {
        @Override
        @POST
        @Path("bid")
        @Consumes(MediaType.TEXT_XML)
        @Produces(ContentType.TEXT_XML_UTF_8)
        BidRequest bid(BidRequest request);

        @Override
        @POST
        @Path("text")
        @Consumes(MediaType.TEXT_PLAIN)
        @Produces(ContentType.TEXT_PLAIN_UTF_8)
        String text(String text);
    }

    /** JSON, compressed in both directions. */
    @Path("bids")
    interface JsonGzip extends Bids {
        @Override
        @GZIP
        @POST
        @Path("bid")
        @Consumes(MediaType.APPLICATION_JSON)
        @Produces(ContentType.APPLICATION_JSON_UTF_8)
        BidRequest bid(@GZIP BidRequest request);

        @Override
        @GZIP
        @POST
        @Path("text")
        @Consumes(MediaType.TEXT_PLAIN)
        @Produces(ContentType.TEXT_PLAIN_UTF_8)
        String text(@GZIP String text);
    }

    /** XML, compressed in both directions. */
    @Path("bids")
    interface XmlGzip extends Bids {
        @Override
        @GZIP
        @POST
        @Path("bid")
        @Consumes(MediaType.TEXT_XML)
        @Produces(ContentType.TEXT_XML_UTF_8)
        BidRequest bid(@GZIP BidRequest request);

        @Override
        @GZIP
        @POST
        @Path("text")
        @Consumes(MediaType.TEXT_PLAIN)
        @Produces(ContentType.TEXT_PLAIN_UTF_8)
        String text(@GZIP String text);
    }
}
