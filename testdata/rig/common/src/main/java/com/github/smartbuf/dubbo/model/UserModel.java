package com.github.smartbuf.dubbo.model;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** A user whose friends know each other: circular references. */
@Getter
@Setter
public class UserModel implements Serializable {
    private static final long serialVersionUID = 1L;
    private int id;
    private String token;
    private String nickname;
    private String loginIp;
    private long loginTime;
    private long createTime;
    private long updateTime;
    private List<UserModel> friends = new ArrayList<>();
}
