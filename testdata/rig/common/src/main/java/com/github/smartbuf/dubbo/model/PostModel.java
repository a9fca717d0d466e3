package com.github.smartbuf.dubbo.model;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** A post of the smartbuf comparison. */
@Getter
@Setter
public class PostModel implements Serializable {
    private static final long serialVersionUID = 1L;
    private int postId;
    private int authorId;
    private Integer prePostId;
    private String title;
    private String description;
    private ContentType contentType;
    private Visibility visibility;
    private long createTime;
    private List<Integer> mentions = new ArrayList<>();
    private List<TopicModel> topics = new ArrayList<>();

    /** What the post holds. */
    public enum ContentType { TEXT, PHOTO, MUSIC, VIDEO, FILE }

    /** Who may see it. */
    public enum Visibility { PUBLIC, FRIEND_ONLY, PRIVATE }
}
