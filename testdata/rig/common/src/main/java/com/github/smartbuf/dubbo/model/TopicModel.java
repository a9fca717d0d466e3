package com.github.smartbuf.dubbo.model;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** A topic, shared by many posts. */
@Getter
@Setter
public class TopicModel implements Serializable {
    private static final long serialVersionUID = 1L;
    private int id;
    private String name;
    private String portrait;
    private String background;
    private String description;
    private int postNum;
    private int followerNum;
    private long createTime;
}
